// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/opened_device.hpp"

#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/process_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace tuner::cli {
namespace {

std::chrono::seconds whole_seconds(const std::string& duration, std::string_view option) {
  return std::max(std::chrono::ceil<std::chrono::seconds>(parse_duration(duration, option)),
                  std::chrono::seconds(1));
}

/// The gate for shared devices sees nothing there, and does not refuse.
void tell_of_hidden_processes(worker::DeviceWorker& device) {
  if (!device.conditions().hides_processes) return;
  tell(fmt::format(
      "whether other processes use {} cannot be seen here, as in a container: what they "
      "slow down is not marked\n",
      device.device().name));
}

/// Once, though devices are opened again.
void tell_of_missing_sandbox() {
  static std::once_flag told;
  const std::string lack = worker::worker_sandbox().lack;
  if (!lack.empty()) std::call_once(told, [&] { tell(lack + "\n"); });
}

worker::DeviceDeadlines deadlines(const DeviceOptions& options) {
  return {.launch = parse_duration(options.launch_timeout, "--launch-timeout")};
}

}  // namespace

std::vector<worker::NamedDevice> OpenedDevice::open(const DeviceOptions& options,
                                                    const family::Family& family,
                                                    std::uint64_t seed) {
  auto opened =
      worker::open_devices(options.backend, options.device, family, seed, deadlines(options));
  for (const std::string& line : opened.left_out) tell(line + "\n");
  return std::move(opened.devices);
}

std::vector<worker::NamedDevice> OpenedDevice::open_one(const DeviceOptions& options,
                                                        const family::Family& family,
                                                        std::uint64_t seed) {
  if (options.device == "all" || options.device.find(',') != std::string::npos) {
    throw Error(
        ErrorCode::usage,
        fmt::format("--device {}: this command runs on one device: name it", options.device));
  }
  return open(options, family, seed);
}

std::vector<std::unique_ptr<OpenedDevice>> OpenedDevice::open_all(const DeviceOptions& options,
                                                                  const family::Family& family,
                                                                  std::uint64_t seed,
                                                                  int compile_threads) {
  std::vector<std::vector<worker::NamedDevice>> models;
  for (worker::NamedDevice& each : open(options, family, seed)) {
    const auto same =
        std::ranges::find_if(models, [&](const std::vector<worker::NamedDevice>& model) {
          return are_of_one_subject(*model.front().process, *each.process);
        });
    if (same != models.end()) {
      same->push_back(std::move(each));
    } else {
      models.emplace_back().push_back(std::move(each));
    }
  }
  std::vector<std::unique_ptr<OpenedDevice>> all;
  for (std::vector<worker::NamedDevice>& model : models) {
    all.push_back(std::unique_ptr<OpenedDevice>(
        new OpenedDevice(options, std::move(model), compile_threads)));
  }
  return all;
}

OpenedDevice::OpenedDevice(const DeviceOptions& options, const family::Family& family,
                           std::uint64_t seed)
    : OpenedDevice(options, open_one(options, family, seed), 1) {}

OpenedDevice::OpenedDevice(const DeviceOptions& options, std::vector<worker::NamedDevice> devices,
                           int compile_threads)
    : isolated_(worker::make_isolated_compiler(
          devices.front().process->device(),
          whole_seconds(options.compile_timeout, "--compile-timeout"))),
      cache_(backend::default_binary_cache()),
      cached_(*isolated_, cache_,
              backend::compiler_identity(devices.front().process->device(),
                                         devices.front().process->environment())),
      no_cache_(options.no_cache) {
  for (worker::NamedDevice& each : devices) {
    cards_.push_back({.name = std::move(each.name),
                      .device = each.process.get(),
                      .compiler = &compiler(),
                      .compile_threads = compile_threads});
    processes_.push_back(std::move(each.process));
  }
  if (!cache_.problem().empty())
    tell(fmt::format("compiled kernels are not kept: {}\n", cache_.problem()));
  tell_of_missing_sandbox();
  tell_of_hidden_processes(device());
}

const backend::Compiler& OpenedDevice::compiler() const {
  if (no_cache_) return *isolated_;
  return cached_;
}

int spare_cores() {
  return static_cast<int>(std::max(2U, std::thread::hardware_concurrency())) - 1;
}

std::vector<std::string> other_users(worker::DeviceWorker& device) {
  const backend::Conditions now = device.conditions();
  const std::string& name = device.device().name;
  std::vector<std::string> warnings;
  if (!now.other_processes.empty()) {
    warnings.push_back(fmt::format("other processes use {}; they affect the times", name));
  }
  if (now.mps) {
    warnings.push_back(
        fmt::format("programs share {} by MPS; one that fails ends the others", name));
  }
  return warnings;
}

}  // namespace tuner::cli
