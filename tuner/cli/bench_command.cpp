// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/bench_result.hpp"
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sweep_command.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/session/bench.hpp"
#include "tuner/session/earlier_winners.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <thread>

namespace tuner::cli {
namespace {

const Kernel& chosen_kernel(const Family& family, const std::string& name) {
  if (!name.empty()) return family.kernel(name);
  if (family.kernels.size() == 1) return family.kernels.front();
  std::vector<std::string> names;
  for (const Kernel& kernel : family.kernels) names.push_back(kernel.name);
  throw Error(ErrorCode::usage, fmt::format("which kernel? {} has {}; name one with --kernel",
                                            family.path, fmt::join(names, ", ")));
}

Size chosen_size(const Family& family, const std::string& text) {
  const Dimensions& dims = family.problem.dims;
  if (!text.empty()) return parse_size(text, dims);
  std::vector<std::string> names = dims.names();
  names.resize(dims.required());
  throw Error(ErrorCode::usage,
              fmt::format("which size ({})? Write --size {}", fmt::join(names, ","),
                          fmt::join(std::vector(names.size(), 256), ",")));
}

void require_backend(const Kernel& kernel, const std::string& backend) {
  if (kernel.backends.empty() || std::ranges::count(kernel.backends, backend) > 0) return;
  throw Error(ErrorCode::no_device,
              fmt::format("kernel {} runs on {} only, not on the {} backend", kernel.name,
                          fmt::join(kernel.backends, ", "), backend));
}

/// What `--config` names on a device at a size.
class ConfigReader {
 public:
  ConfigReader(const CommonOptions& common, const Family& family, const Kernel& kernel,
               const DeviceInfo& device, const Size& size)
      : common_(common),
        family_(family),
        kernel_(kernel),
        device_(device),
        size_(size),
        space_(kernel.space, device.attributes, size) {}

  std::vector<Config> read(const std::vector<std::string>& texts) const {
    if (texts.empty()) return {best_or_default()};
    std::vector<Config> configs;
    for (const std::string& text : texts) {
      Config config = named(text);
      if (const auto violation = space_.violation(config)) {
        throw Error(
            ErrorCode::no_valid_config,
            fmt::format("--config {}: constraint {} of {} rejects it at {} on {}: {}", text,
                        violation->constraint + 1, kernel_.space->constraints.size(),
                        display(size_, family_.problem.dims), device_.name, violation->message));
      }
      if (std::ranges::count(configs, config) == 0) configs.push_back(std::move(config));
    }
    return configs;
  }

 private:
  Config named(const std::string& text) const {
    if (text == "default") return space_.default_config();
    if (text == "best") {
      if (const auto best = stored_best()) return *best;
      throw Error(ErrorCode::nothing_found,
                  fmt::format("--config best: {} has no result for kernel {} at {} on {}; `tune` "
                              "finds one",
                              database_path(common_).string(), kernel_.name,
                              display(size_, family_.problem.dims), device_.name));
    }
    try {
      return space_.canonical(text.starts_with('{') ? config_from_json(*kernel_.space, text)
                                                    : config_from_text(*kernel_.space, text));
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--config {}: {}", text, error.what()));
    }
  }

  std::optional<Config> stored_best() const {
    const Store store = open_database(common_, Store::Mode::read_only);
    return incumbent(store, family_, kernel_, device_, size_);
  }

  Config best_or_default() const {
    if (!std::filesystem::exists(database_path(common_))) return space_.default_config();
    const auto best = stored_best();
    return best && space_.position(*best) ? *best : space_.default_config();
  }

  const CommonOptions& common_;
  const Family& family_;
  const Kernel& kernel_;
  const DeviceInfo& device_;
  const Size& size_;
  Space space_;
};

BenchPlan bench_plan(const BenchOptions& options, Size size, std::vector<Config> configs) {
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  return {.size = std::move(size),
          .configs = std::move(configs),
          .finals = {.rounds = options.rounds,
                     .budget = parse_duration(options.max_time, "--max-time"),
                     .seed = options.seed},
          .compile_threads = cores - 1};
}

/// How many of the configurations asked for did not end ok; the default may just ride along.
std::size_t count_failed(const BenchResult& result, const SpaceDefinition& definition,
                         const std::vector<Config>& asked) {
  return static_cast<std::size_t>(std::ranges::count_if(asked, [&](const Config& config) {
    const std::string config_json = canonical_json(definition, config);
    return std::ranges::any_of(result.contenders, [&](const BenchContender& contender) {
      return contender.trial.config_json == config_json && contender.trial.outcome != Outcome::ok;
    });
  }));
}

void warn_of_others(DeviceWorker& device) {
  if (device.other_processes().empty()) return;
  tell(fmt::format("warning: other processes use {}; they affect the times\n",
                   device.device().name));
}

}  // namespace

int bench(const CommonOptions& common, const BenchOptions& options) {
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "nothing to time: name a space file, for example\n"
                "  tune bench --kernel gemm_shared --space spaces/gemm.json --size 256,256,256");
  }
  if (is_sweep(options)) return sweep(common, options);
  const Family family = load_family(options.space);
  const Kernel& kernel = chosen_kernel(family, options.kernel);
  const Size size = chosen_size(family, options.size);
  OpenedDevice opened(options, family, options.seed);
  DeviceProcess& device = opened.device();
  require_backend(kernel, device.device().backend);
  const BenchPlan plan =
      bench_plan(options, size,
                 ConfigReader(common, family, kernel, device.device(), size).read(options.configs));
  const Interrupt interrupt;
  if (!common.quiet) {
    warn_of_others(device);
    tell(fmt::format("{} on {} ({}, {}), inputs of seed {}\n", kernel.name, device.device().name,
                     device.environment().compiler, device.environment().library, options.seed));
  }
  const BenchResult result =
      run_bench(kernel, plan, device, opened.compiler(), [&] { return interrupt.requested(); });
  const BenchReport report{.family = family,
                           .kernel = kernel,
                           .size = size,
                           .seed = options.seed,
                           .device = device.device(),
                           .environment = device.environment(),
                           .result = result};
  fmt::print("{}", common.json ? json_text(bench_json(report)) : bench_text(report));
  if (interrupt.exit_code()) return *interrupt.exit_code();
  if (const auto failed = count_failed(result, *kernel.space, plan.configs); failed > 0) {
    throw Error(ErrorCode::failure,
                fmt::format("{} of {} did not end ok", failed,
                            quantity::count(plan.configs.size(), "configuration")));
  }
  return 0;
}

}  // namespace tuner::cli
