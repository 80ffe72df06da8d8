// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/opened_device.hpp"

#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/worker/isolated_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tuner::cli {
namespace {

std::chrono::seconds whole_seconds(const std::string& duration, std::string_view option) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(parse_duration(duration, option)),
                  std::chrono::seconds(1));
}

worker::DeviceDeadlines deadlines(const DeviceOptions& options) {
  worker::DeviceDeadlines deadlines;
  deadlines.launch = parse_duration(options.launch_timeout, "--launch-timeout");
  return deadlines;
}

}  // namespace

OpenedDevice::OpenedDevice(const DeviceOptions& options, const family::Family& family,
                           std::uint64_t seed)
    : device_(
          worker::worker_command({"device", options.backend, fmt::format("{}", options.device)}),
          family, seed, deadlines(options)),
      isolated_(worker::make_isolated_compiler(
          device_.device(), whole_seconds(options.compile_timeout, "--compile-timeout"))),
      cache_(backend::default_binary_cache()),
      cached_(*isolated_, cache_,
              backend::compiler_identity(device_.device(), device_.environment())),
      no_cache_(options.no_cache) {
  if (!cache_.problem().empty())
    tell(fmt::format("compiled kernels are not kept: {}\n", cache_.problem()));
}

const backend::Compiler& OpenedDevice::compiler() const {
  if (no_cache_) return *isolated_;
  return cached_;
}

}  // namespace tuner::cli
