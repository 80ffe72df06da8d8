// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/opened_device.hpp"

#include "tuner/cli/device_choice.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/isolated_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

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

/// Whether their results answer for one another.
bool are_of_one_model(const worker::DeviceProcess& one, const worker::DeviceProcess& other) {
  const space::DeviceInfo& a = one.device();
  const space::DeviceInfo& b = other.device();
  return a.backend == b.backend && a.name == b.name && a.architecture == b.architecture &&
         a.attributes.sm_count == b.attributes.sm_count && one.environment() == other.environment();
}

}  // namespace

std::vector<OpenedDevice::Opened> OpenedDevice::open(const DeviceOptions& options,
                                                     const family::Family& family,
                                                     std::uint64_t seed) {
  const std::vector<ChosenDevice> chosen = chosen_devices(options.device, [&] {
    return worker::list_devices(worker::worker_command({"devices", options.backend}));
  });
  std::vector<Opened> devices;
  for (const ChosenDevice& each : chosen) {
    devices.push_back(
        {.name = each.name,
         .process = std::make_unique<worker::DeviceProcess>(
             worker::worker_command({"device", options.backend, fmt::format("{}", each.ordinal)}),
             family, seed, deadlines(options), worker::Opening::later)});
  }
  std::vector<Opened> opened;
  for (Opened& each : devices) {
    try {
      each.process->finish_opening();
      opened.push_back(std::move(each));
    } catch (const Error& error) {
      const bool last = opened.empty() && &each == &devices.back();
      if (last || error.code() != ErrorCode::no_device) throw;
      tell(fmt::format("device {} is left out: {}\n", each.name, error.what()));
    }
  }
  return opened;
}

std::vector<OpenedDevice::Opened> OpenedDevice::open_one(const DeviceOptions& options,
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
                                                                  std::uint64_t seed) {
  std::vector<std::vector<Opened>> models;
  for (Opened& each : open(options, family, seed)) {
    const auto same = std::ranges::find_if(models, [&](const std::vector<Opened>& model) {
      return are_of_one_model(*model.front().process, *each.process);
    });
    if (same != models.end()) {
      same->push_back(std::move(each));
    } else {
      models.emplace_back().push_back(std::move(each));
    }
  }
  std::vector<std::unique_ptr<OpenedDevice>> all;
  for (std::vector<Opened>& model : models) {
    all.push_back(std::unique_ptr<OpenedDevice>(new OpenedDevice(options, std::move(model))));
  }
  return all;
}

OpenedDevice::OpenedDevice(const DeviceOptions& options, const family::Family& family,
                           std::uint64_t seed)
    : OpenedDevice(options, open_one(options, family, seed)) {}

OpenedDevice::OpenedDevice(const DeviceOptions& options, std::vector<Opened> devices)
    : isolated_(worker::make_isolated_compiler(
          devices.front().process->device(),
          whole_seconds(options.compile_timeout, "--compile-timeout"))),
      cache_(backend::default_binary_cache()),
      cached_(*isolated_, cache_,
              backend::compiler_identity(devices.front().process->device(),
                                         devices.front().process->environment())),
      no_cache_(options.no_cache) {
  for (Opened& each : devices) {
    cards_.push_back({.name = std::move(each.name), .device = each.process.get()});
    processes_.push_back(std::move(each.process));
  }
  if (!cache_.problem().empty())
    tell(fmt::format("compiled kernels are not kept: {}\n", cache_.problem()));
  const auto sandbox = worker::worker_sandbox();
  if (sandbox && sandbox->landlock == 0) {
    tell("this system has no Landlock: compilers and kernels may write every file that you may\n");
  }
}

const backend::Compiler& OpenedDevice::compiler() const {
  if (no_cache_) return *isolated_;
  return cached_;
}

}  // namespace tuner::cli
