// SPDX-License-Identifier: Apache-2.0
// A process with devices and streams that do as a test says.
#pragma once

#include "tuner/backend/application.hpp"

#include <set>
#include <utility>

namespace tuner::cublas {

/// What the test tells it; it outlives the application.
struct FakeProcess {
  int devices = 2;
  std::optional<int> current = 0;
  std::set<backend::StreamHandle> capturing;
  int begun = 0;
  std::vector<backend::StreamTime> finished;
};

class FakeApplication final : public backend::Application {
 public:
  explicit FakeApplication(FakeProcess& process) : process_(process) {}

  [[nodiscard]] int device_count() const override { return process_.devices; }
  [[nodiscard]] std::optional<int> current_device() const override { return process_.current; }
  [[nodiscard]] std::string device_name(int) const override { return "a device"; }
  [[nodiscard]] bool is_capturing(backend::StreamHandle stream) const override {
    return process_.capturing.contains(stream);
  }
  [[nodiscard]] std::optional<backend::StreamMark> begin(backend::StreamHandle,
                                                         std::uint64_t tag) override {
    ++process_.begun;
    return backend::StreamMark{.tag = tag};
  }
  void end(const backend::StreamMark& mark, backend::StreamHandle) override {
    process_.finished.push_back({.tag = mark.tag, .ns = 1000});
  }
  [[nodiscard]] std::vector<backend::StreamTime> finished() override {
    return std::exchange(process_.finished, {});
  }

 private:
  FakeProcess& process_;
};

}  // namespace tuner::cublas
