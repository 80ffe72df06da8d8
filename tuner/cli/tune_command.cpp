// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/progress.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/report/report.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ranges>
#include <sstream>
#include <thread>

namespace tuner::cli {
namespace {

/// Applies every --set NAME=v1,v2 to a kernel's parameters.
void apply_set(Kernel& kernel, const std::vector<std::string>& assignments) {
  if (assignments.empty()) return;
  auto definition = std::make_shared<SpaceDefinition>(*kernel.space);
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos) {
      throw Error(ErrorCode::usage,
                  fmt::format("--set: '{}' has no '='; write --set TILE_M=64,128", assignment));
    }
    std::vector<std::string> values;
    std::istringstream list(assignment.substr(equals + 1));
    for (std::string value; std::getline(list, value, ',');) values.push_back(value);
    restrict_parameter(*definition, assignment.substr(0, equals), values);
  }
  kernel.space = std::move(definition);
}

std::vector<Kernel> chosen_kernels(const Family& family, const TuneOptions& options,
                                   const std::string& backend) {
  std::vector<Kernel> kernels;
  for (const Kernel& kernel : family.kernels) {
    if (!options.kernel.empty() && kernel.name != options.kernel) continue;
    if (kernel.backends.empty() || std::ranges::count(kernel.backends, backend) > 0) {
      kernels.push_back(kernel);
      apply_set(kernels.back(), options.set);
      continue;
    }
    const std::string why = fmt::format("kernel {} runs on {} only, not on the {} backend",
                                        kernel.name, fmt::join(kernel.backends, ", "), backend);
    if (!options.kernel.empty()) throw Error(ErrorCode::no_device, why);
    tell(fmt::format("skipped: {}\n", why));
  }
  if (kernels.empty()) {
    throw Error(ErrorCode::no_device,
                fmt::format("{}: no kernel runs on the {} backend", family.path, backend));
  }
  return kernels;
}

/// A kernel and where to tune it.
struct Task {
  Kernel kernel;
  std::vector<Size> sizes;
};

/// Of several kernels, each at the sizes that it is for; one that was asked for, at all.
std::vector<Task> tasks_of(const Family& family, std::vector<Kernel> kernels,
                           const DeviceInfo& device, const std::vector<Size>& sizes) {
  std::vector<Task> tasks;
  for (Kernel& kernel : kernels) {
    std::vector<Size> fit;
    for (const Size& size : sizes) {
      const auto unfit =
          kernels.size() > 1 ? unfit_for(kernel, device.attributes, size) : std::nullopt;
      if (!unfit) fit.push_back(size);
      if (unfit) {
        tell(fmt::format("skipped: kernel {} is not for {}: {}\n", kernel.name,
                         display(size, family.problem.dims), *unfit));
      }
    }
    if (!fit.empty()) tasks.push_back({.kernel = std::move(kernel), .sizes = std::move(fit)});
  }
  if (!tasks.empty()) return tasks;
  throw Error(ErrorCode::no_valid_config,
              fmt::format("{}: no kernel is for any of these sizes", family.path));
}

/// Before anything runs or is written: every kernel has something to tune at every size, and its
/// default, as the file has it, is valid there.
void refuse_invalid(const Family& family, const std::vector<Task>& tasks,
                    const DeviceInfo& device) {
  for (const auto& [kernel, sizes] : tasks) {
    for (const Size& size : sizes) {
      const Space space(kernel.space, device.attributes, size);
      if (space.size() == 0) {
        throw Error(
            ErrorCode::no_valid_config,
            fmt::format("{}: kernel {} has no valid configuration on {} at {}; "
                        "`tune space count` shows which constraint removes them",
                        family.path, kernel.name, device.name, display(size, family.problem.dims)));
      }
      check_default(family.kernel(kernel.name), device.attributes, size);
      const std::string caution = check_sizes_caution(family, kernel, space, size);
      if (!caution.empty()) tell(caution + "\n");
    }
  }
}

/// A size among several must not keep the others waiting for ever. A single one is searched until
/// something else ends the search, and so is the whole space where that was asked for.
std::optional<std::uint64_t> patience(const TuneOptions& options, std::size_t sizes) {
  constexpr std::uint64_t kAmongSeveral = 150;
  const bool bounded = options.max_evaluations.has_value() || options.strategy == "exhaustive";
  if (options.patience || sizes == 1 || bounded) return options.patience;
  return kAmongSeveral;
}

SessionPlan session_plan(const TuneOptions& options, std::vector<Size> sizes) {
  SessionPlan plan;
  plan.sizes = std::move(sizes);
  plan.strategy = options.strategy;
  plan.seed = options.seed;
  plan.max_evaluations = options.max_evaluations;
  plan.patience = patience(options, plan.sizes.size());
  if (!options.max_time.empty()) plan.max_time = parse_duration(options.max_time, "--max-time");
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  plan.compile_threads = options.jobs > 0 ? options.jobs : cores - 1;
  plan.resume = options.fresh ? Resume::no : Resume::yes;
  plan.shared_device = options.allow_shared ? SharedDevice::accepted : SharedDevice::refused;
  plan.command = options.command_line;
  return plan;
}

Json finalist_json(const FinalistRecord& finalist) {
  return {{"role", finalist.role},
          {"config", finalist.config_json.empty() ? Json() : Json::parse(finalist.config_json)},
          {"median_ns", finalist.time.median_ns},
          {"ratio_to_best", finalist.ratio_to_best},
          {"ratio_low", finalist.ratio_low},
          {"ratio_high", finalist.ratio_high},
          {"rounds", finalist.time.samples}};
}

Json best_json(const SizeResult& result, const Dimensions& dims) {
  Json json = {{"size", size_json(result.size, dims)},
               {"evaluated", result.evaluated},
               {"reused", result.reused}};
  Json outcomes = Json::object();
  for (const auto& [outcome, count] : result.outcomes) outcomes[std::string(name(outcome))] = count;
  json["outcomes"] = outcomes;
  if (!result.best) return json;
  const BestRecord& best = *result.best;
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  json["best"] = {{"config", Json::parse(best.config_json)},
                  {"median_ns", best.time.median_ns},
                  {"q1_ns", best.time.q1_ns},
                  {"q3_ns", best.time.q3_ns},
                  {"library", best.library_name},
                  {"library_ns", optional(best.library_ns)},
                  {"default_ns", optional(best.default_ns)},
                  {"ratio_to_library", optional(best.ratio_to_library)},
                  {"ratio_to_default", optional(best.ratio_to_default)},
                  {"ties", best.ties}};
  for (const FinalistRecord& finalist : result.finalists) {
    json["finalists"].push_back(finalist_json(finalist));
  }
  return json;
}

void print_table(const Kernel& kernel, const SessionResult& result) {
  using Align = Table::Align;
  Table table({{kernel.name},
               {"time", Align::right},
               {"rate", Align::right},
               {"vs library", Align::right},
               {"vs default", Align::right},
               {"ties", Align::right},
               {"configuration"}});
  for (const SizeResult& size : result.sizes) {
    if (!size.best) {
      table.add({display(size.size, kernel.space->dims), "–", "–", "–", "–", "–",
                 format_failures(size.outcomes)});
      continue;
    }
    const BestRecord& best = *size.best;
    table.add({display(size.size, kernel.space->dims), quantity::time(best.time.median_ns),
               format_rate(best.flops, best.time.median_ns), format_ratio(best.ratio_to_library),
               format_ratio(best.ratio_to_default), fmt::format("{}", best.ties),
               size.winner_display});
  }
  fmt::print("{}", table.text());
}

void print_totals(const SessionResult& result) {
  std::uint64_t evaluated = 0, reused = 0;
  std::map<Outcome, std::uint64_t> outcomes;
  for (const SizeResult& size : result.sizes) {
    evaluated += size.evaluated;
    reused += size.reused;
    for (const auto& [outcome, count] : size.outcomes) outcomes[outcome] += count;
  }
  const double run = static_cast<double>(evaluated - reused);
  const double wall_s = std::max(result.wall_s, 1e-3);
  const double device_s = result.verify_s + result.measure_s;
  tell(fmt::format(
      "  {} in {:.1f} s ({:.1f} a second; {} from the database), failed: {}\n"
      "  device busy {:.0f} % of it (verify {:.1f} s, measure {:.1f} s), {} busy {:.0f} "
      "% ({:.1f} s)\n",
      quantity::count(evaluated, "trial"), result.wall_s, run / wall_s, quantity::count(reused),
      format_failures(outcomes), 100 * device_s / wall_s, result.verify_s, result.measure_s,
      quantity::count(static_cast<std::uint64_t>(result.compile_threads), "compiler"),
      100 * result.compile_s / wall_s / result.compile_threads, result.compile_s));
  if (result.respawns > 0) {
    tell(fmt::format("  the device's process was replaced {}\n",
                     quantity::count(static_cast<std::uint64_t>(result.respawns), "time")));
  }
  if (result.shared) {
    tell("  other processes used the device meanwhile: what was best before stays\n");
  }
  if (result.requeued > 0) {
    tell(fmt::format("  {} timed again because the device had drifted\n",
                     quantity::count(static_cast<std::uint64_t>(result.requeued), "trial")));
  }
}

bool has_best(const SizeResult& result) {
  return result.best.has_value();
}

void print_next(const Kernel& kernel, const SessionResult& result, const TuneOptions& options,
                const CommonOptions& common) {
  const std::string database =
      common.database ? fmt::format(" --db {}", common.database->string()) : "";
  if (result.state == SessionState::interrupted) {
    tell(fmt::format(
        "interrupted; everything so far is saved. Resume with the same command:\n  {}\n",
        options.command_line));
    return;
  }
  if (result.state == SessionState::budget_spent) {
    tell("the time budget is spent; the same command goes on where this one stopped\n");
  }
  const auto last_first = result.sizes | std::views::reverse;
  const auto tuned = std::ranges::find_if(last_first, has_best);
  if (tuned == last_first.end()) return;
  tell(fmt::format("next:\n  tune query --kernel {} --size {}{} --explain\n  tune report{}\n",
                   kernel.name, canonical_size(tuned->size, kernel.space->dims), database,
                   database));
}

/// Compiles the default configuration of every kernel and launches nothing.
int dry_run(const std::vector<Task>& tasks, const DeviceInfo& device, const Compiler& compiler) {
  for (const auto& [kernel, sizes] : tasks) {
    for (const Size& size : sizes) {
      const Space space(kernel.space, device.attributes, size);
      fmt::print("{} {}: {}\n", kernel.name, display(size, kernel.space->dims),
                 quantity::count(space.size(), "valid configuration"));
    }
    const Space space(kernel.space, device.attributes, sizes.front());
    const auto binary = compiler.compile(compile_job(kernel, space, space.default_config()));
    if (!binary) {
      throw Error(ErrorCode::failure,
                  fmt::format("{}: the default configuration does not compile:\n{}", kernel.name,
                              binary.error().message));
    }
    fmt::print("{}: the default configuration compiles ({} bytes)\n", kernel.name,
               binary->image.size());
  }
  return 0;
}

}  // namespace

int tune(const CommonOptions& common, const TuneOptions& options) {
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "nothing to tune: name a space file, for example\n"
                "  tune --kernel gemm_shared --space spaces/gemm.json\n"
                "`tune --help` lists everything else");
  }
  if (std::ranges::count(strategy_names(), options.strategy) == 0) {
    throw Error(ErrorCode::usage, fmt::format("--strategy: there is no '{}'{}", options.strategy,
                                              did_you_mean(options.strategy, strategy_names())));
  }
  const Family family = load_family(options.space);
  if (!options.kernel.empty()) static_cast<void>(family.kernel(options.kernel));
  OpenedDevice opened(options, family, options.seed);
  DeviceProcess& device = opened.device();
  const Compiler& compiler = opened.compiler();
  const std::string& backend = device.device().backend;
  const std::vector<Task> tasks = tasks_of(family, chosen_kernels(family, options, backend),
                                           device.device(), chosen_sizes(family, options, backend));
  refuse_invalid(family, tasks, device.device());
  if (options.dry_run) return dry_run(tasks, device.device(), compiler);

  Store store = open_database(common, Store::Mode::read_write);
  const Interrupt interrupt;
  Json document = {
      {"schema", "tune.run/1"}, {"device", device.device().name}, {"kernels", Json::array()}};
  bool found = false;
  for (const auto& [kernel, sizes_of_kernel] : tasks) {
    if (interrupt.requested()) break;
    const SessionPlan plan = session_plan(options, sizes_of_kernel);
    ProgressPrinter printer(common.quiet ? ProgressPrinter::Style::silent
                                         : ProgressPrinter::style_for_stderr());
    const SessionResult result = run_session(family, kernel, plan, device, compiler, store, printer,
                                             [&] { return interrupt.requested(); });
    found = found || std::ranges::any_of(result.sizes, has_best);
    Json sizes = Json::array();
    for (const SizeResult& size : result.sizes)
      sizes.push_back(best_json(size, family.problem.dims));
    document["kernels"].push_back({{"kernel", kernel.name},
                                   {"session", result.uuid},
                                   {"state", std::string(name(result.state))},
                                   {"wall_s", result.wall_s},
                                   {"shared", result.shared},
                                   {"sizes", sizes}});
    if (!common.json) print_table(kernel, result);
    if (!common.quiet) {
      print_totals(result);
      print_next(kernel, result, options, common);
    }
  }
  if (common.json) fmt::print("{}\n", document.dump(2));
  if (!options.report.empty()) {
    for (const auto& path : write_reports(store, device.device().name, options.report)) {
      tell(fmt::format("report: {}\n", path.string()));
    }
  }
  if (interrupt.exit_code()) return *interrupt.exit_code();
  if (!found) {
    throw Error(ErrorCode::no_valid_config,
                "no configuration ended ok; `tune runs show` lists why each was lost");
  }
  return 0;
}

}  // namespace tuner::cli
