// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_backend.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/sweep_contenders.hpp"
#include "tuner/cli/sweep_text.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/lab/sweep.hpp"
#include "tuner/lab/sweep_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <utility>

namespace tuner::cli {
namespace {

std::vector<space::Size> swept_sizes(const family::Family& family, const BenchOptions& options) {
  const space::Dimensions& dims = family.problem.dims;
  if (!options.range.empty()) return size_range(options.range, dims);
  if (!options.size.empty()) return {space::parse_size(options.size, dims)};
  throw Error(ErrorCode::usage, "which sizes? Write --range 64:4096:x2, or --size for one");
}

std::vector<lab::Placement> placements(const family::Family& family, const BenchOptions& options) {
  if (!options.transfers) return {};
  std::vector<std::string> texts = options.memory;
  if (texts.empty()) texts = {"pageable", "pinned", "mapped"};
  std::vector<lab::Placement> all;
  for (const std::string& text : texts) all.push_back(lab::parse_placement(text, family));
  return all;
}

double most_run_ns(const BenchOptions& options) {
  return std::chrono::duration<double, std::nano>(parse_duration(options.limit, "--limit")).count();
}

/// Compiled anew: what compiling takes is part of the answer.
DeviceOptions options_for(const BenchOptions& options, std::string backend, std::string device) {
  DeviceOptions mine = options;
  mine.backend = std::move(backend);
  mine.device = std::move(device);
  mine.no_cache = true;
  return mine;
}

/// One device of a sweep.
class Side {
 public:
  Side(std::string name, const DeviceOptions& options, const family::Family& family,
       std::uint64_t seed)
      : name_(std::move(name)),
        family_(family),
        opened_(options, family, seed),
        start_up_(opened_.device().start_up()) {
    if (name_.empty()) name_ = runs_on_host() ? "device" : "GPU";
  }

  [[nodiscard]] worker::DeviceProcess& device() { return opened_.device(); }

  lab::SweepSide sweep(const lab::SweepPlan& plan, bool quiet, const std::function<bool()>& stop) {
    if (!quiet) introduce();
    const auto heard = [&](const lab::SweepTime& timing) {
      if (quiet) return;
      tell(fmt::format("{} {} {}: {}\n", name_,
                       space::display(plan.sizes[timing.size], family_.problem.dims),
                       timing.contender,
                       timing.time ? quantity::time(timing.time->median_ns)
                                   : std::string(tuner::name(timing.outcome))));
    };
    return {.name = name_,
            .device = device().device(),
            .environment = device().environment(),
            .start_up = start_up_,
            .timestamp_mhz = runs_on_host() ? backend::timestamp_mhz() : 0,
            .result = lab::run_sweep(family_, plan, device(), opened_.compiler(), heard, stop)};
  }

 private:
  [[nodiscard]] bool runs_on_host() {
    return space::runs_on_host(opened_.device().device().backend);
  }

  void introduce() {
    const space::DeviceInfo& info = device().device();
    const space::EnvironmentInfo& environment = device().environment();
    const std::string cores = runs_on_host()
                                  ? fmt::format(", {} threads, vectors of {} bits",
                                                info.attributes.sm_count, backend::vector_bits())
                                  : "";
    tell(fmt::format("{}: {}{} ({}, {})\n", name_, info.name, cores, environment.compiler,
                     environment.library));
  }

  std::string name_;
  const family::Family& family_;
  OpenedDevice opened_;
  worker::StartUp start_up_;
};

std::size_t count_failed(const lab::SweepReport& report) {
  std::size_t failed = 0;
  std::vector<lab::SweepSide> sides = report.sides;
  if (report.bound) sides.push_back(*report.bound);
  for (const lab::SweepSide& side : sides) {
    const auto is_failed = [](const auto& each) { return each.outcome != Outcome::ok; };
    failed += static_cast<std::size_t>(std::ranges::count_if(side.result.times, is_failed));
    failed += static_cast<std::size_t>(std::ranges::count_if(side.result.transfers, is_failed));
  }
  return failed;
}

/// The library and the kernels of the space file of --bound at the same sizes, at their defaults.
lab::SweepSide bound_side(const CommonOptions& common, const BenchOptions& options,
                          const std::vector<space::Size>& sizes,
                          const std::function<bool()>& stop) {
  const family::Family family = family::load_family(options.bound);
  if (!sizes.empty() && sizes.front().size() != family.problem.dims.size()) {
    throw Error(ErrorCode::usage,
                fmt::format("--bound {}: its sizes have other dimensions", options.bound));
  }
  BenchOptions mine = options;
  mine.kernels.clear();
  mine.configs = {"default"};
  mine.cpu = false;  // this side has a library of its own
  Side side("bound", options_for(options, options.backend, options.device), family, options.seed);
  const lab::SweepPlan plan{.sizes = sizes,
                            .contenders = device_contenders(common, mine, family, side.device()),
                            .placements = {},
                            .most_run_ns = most_run_ns(options)};
  return side.sweep(plan, common.quiet, stop);
}

/// Throws when a side timed nothing.
void require_times(const lab::SweepReport& report) {
  for (const lab::SweepSide& side : report.sides) {
    if (!side.result.times.empty()) continue;
    const auto& skipped = side.result.skipped;
    throw Error(ErrorCode::no_valid_config,
                fmt::format("{}: nothing can be timed at any of the sizes{}", side.name,
                            skipped.empty() ? "" : ": " + skipped.front().why));
  }
}

}  // namespace

bool is_sweep(const BenchOptions& options) {
  return options.cpu || options.transfers || !options.range.empty() || !options.bound.empty() ||
         options.kernels.size() > 1;
}

int sweep(const CommonOptions& common, const BenchOptions& options) {
  if (!options.save_outputs.empty()) {
    throw Error(
        ErrorCode::usage,
        "--save-outputs: a sweep over sizes saves no outputs: name one kernel and one --size");
  }
  const family::Family family = family::load_family(options.space);
  check_kernels(options, family);
  const std::vector<space::Size> sizes = swept_sizes(family, options);
  lab::SweepReport report{.family = family,
                          .sizes = sizes,
                          .placements = placements(family, options),
                          .vector_bits = backend::vector_bits(),
                          .sides = {},
                          .bound = {}};
  Side device("", options_for(options, options.backend, options.device), family, options.seed);
  std::optional<Side> host;
  if (options.cpu) host.emplace("CPU", options_for(options, "cpu", "0"), family, options.seed);
  const Interrupt interrupt;
  const auto stop = [&] { return interrupt.requested(); };
  lab::SweepPlan plan{
      .sizes = sizes, .contenders = {}, .placements = {}, .most_run_ns = most_run_ns(options)};
  if (host) {
    plan.contenders = host_contenders(options, family, host->device());
    report.sides.push_back(host->sweep(plan, common.quiet, stop));
  }
  if (is_timed_as_host(options, device.device()) && !common.quiet) {
    tell("device: the same processor with the CUDA kernels; a library is timed once, as CPU\n");
  }
  plan.contenders = device_contenders(common, options, family, device.device());
  plan.placements = report.placements;
  report.sides.push_back(device.sweep(plan, common.quiet, stop));
  if (!options.bound.empty()) report.bound = bound_side(common, options, sizes, stop);
  const Json document = lab::sweep_json(report);
  if (common.json) {
    fmt::print("{}", json_text(document));
  } else {
    const Output output(common);
    output.tell("{}", sweep_text(document, output.terminal()));
  }
  if (interrupt.exit_code()) return *interrupt.exit_code();
  require_times(report);
  if (const std::size_t failed = count_failed(report); failed > 0) {
    throw Error(ErrorCode::failure,
                fmt::format("{} did not end ok", quantity::count(failed, "run")));
  }
  if (document["agree"] == false) {
    throw Error(ErrorCode::failure, "the results of the devices differ");
  }
  return 0;
}

}  // namespace tuner::cli
