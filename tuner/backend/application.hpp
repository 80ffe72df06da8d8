// SPDX-License-Identifier: Apache-2.0
// Module backend: what a device can do: compile, load, allocate, launch, time, count, call its
// library; cuda/ and cpu/ do it. Tuning uses a Backend, an application an Executor.
//
// What an application does with devices by itself, as a library between it and another one sees it.
#pragma once

#include "tuner/backend/executor.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::backend {

/// How long something took on the device.
struct StreamTime {
  std::uint64_t tag = 0;  ///< the caller's
  double ns = 0;
};

/// Where a time begins.
struct StreamMark {
  std::uint64_t tag = 0;
  void* context = nullptr;  ///< cuda: of its events
  void* begin = nullptr;    ///< cuda: an event that was enqueued
  void* end = nullptr;      ///< cuda: an event that will be
  double host_ns = 0;       ///< cpu: the clock
};

/// The devices of a process and the application's streams. Makes no context, waits for nothing, and
/// fails no capture. Safe to use from many threads at once.
class Application {
 public:
  virtual ~Application() = default;

  /// Devices that the process can see.
  [[nodiscard]] virtual int device_count() const = 0;
  /// The device of the calling thread's context, from 0; none where it has no context.
  [[nodiscard]] virtual std::optional<int> current_device() const = 0;
  [[nodiscard]] virtual std::string device_name(int device) const = 0;
  /// True also where the stream cannot be used.
  [[nodiscard]] virtual bool is_capturing(StreamHandle stream) const = 0;

  /// Begins to time what is enqueued on a stream until end(). None where it cannot be timed now.
  [[nodiscard]] virtual std::optional<StreamMark> begin(StreamHandle stream, std::uint64_t tag) = 0;
  virtual void end(const StreamMark& mark, StreamHandle stream) = 0;
  /// What has been done since the last call, in the order in which it was begun.
  [[nodiscard]] virtual std::vector<StreamTime> finished() = 0;
};

/// "cuda": throws Error(no_device) where there is no driver. "cpu": the process's own work, timed
/// by a clock.
[[nodiscard]] std::unique_ptr<Application> open_application(std::string_view kind);

}  // namespace tuner::backend
