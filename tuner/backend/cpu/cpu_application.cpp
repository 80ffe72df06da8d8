// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_application.hpp"

#include "tuner/backend/cpu/cpu_device.hpp"

#include <chrono>
#include <utility>

namespace tuner::backend {
namespace {

double host_clock_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string CpuApplication::device_name(int) const {
  return cpu_device().name;
}

std::optional<StreamMark> CpuApplication::begin(StreamHandle, std::uint64_t tag) {
  return StreamMark{.tag = tag, .host_ns = host_clock_ns()};
}

void CpuApplication::end(const StreamMark& mark, StreamHandle) {
  const double ns = host_clock_ns() - mark.host_ns;
  const std::scoped_lock lock(mutex_);
  finished_.push_back({.tag = mark.tag, .ns = ns});
}

std::vector<StreamTime> CpuApplication::finished() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(finished_, {});
}

}  // namespace tuner::backend
