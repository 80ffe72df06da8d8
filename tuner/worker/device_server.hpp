// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/worker/calls.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace tuner::worker {

/// Serves the calls about one device (calls.hpp) by what drives it. Used from one thread.
class DeviceServer {
 public:
  /// The binary of a configuration of a kernel, which came in a message.
  using BinaryOf = std::function<backend::Binary(
      const CandidateMessage& message, const family::Kernel& kernel,
      const space::BoundDefinition& space, const space::Config& config)>;
  /// That in the message.
  [[nodiscard]] static backend::Binary sent_binary(const CandidateMessage& message,
                                                   const family::Kernel& kernel,
                                                   const space::BoundDefinition& space,
                                                   const space::Config& config);

  /// `device` and `family` must outlive it.
  DeviceServer(DeviceWorker& device, const family::Family& family, BinaryOf binary_of);
  DeviceServer(const DeviceServer&) = delete;
  DeviceServer& operator=(const DeviceServer&) = delete;

  /// Has one more call answered.
  template <class Arguments, class Result, class Serve>
  void on(const Call<Arguments, Result>& call, Serve serve) {
    calls_.emplace(call.name, [serve = std::move(serve)](const Json& arguments) {
      return answer<Result>(serve(from_message<Arguments>(arguments, "arguments")));
    });
  }
  /// The answer to a request. Throws Error for a request that is none, and as the device does.
  [[nodiscard]] Json serve(const Json& request) const;

 private:
  [[nodiscard]] const space::BoundDefinition& space(const family::Kernel& kernel,
                                                    const space::Size& size);
  [[nodiscard]] Candidate candidate(const CandidateMessage& given, const space::Size& size);

  DeviceWorker& device_;
  const family::Family& family_;
  BinaryOf binary_of_;
  space::Size contenders_size_;
  std::map<std::pair<std::string, space::Size>, space::BoundDefinition> spaces_;
  std::map<std::string, std::function<Json(const Json&)>, std::less<>> calls_;
};

}  // namespace tuner::worker
