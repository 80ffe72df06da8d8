// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/event_log.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/progress.hpp"
#include "tuner/cli/slow_notice.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/tuning_tasks.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/core/suggest.hpp"
#include "tuner/report/report.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/session/session.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

/// A size among several must not keep the others waiting for ever. A single one is searched until
/// something else ends the search, and so is the whole space where that was asked for.
std::optional<std::uint64_t> patience(const TuneOptions& options, std::size_t sizes) {
  constexpr std::uint64_t kAmongSeveral = 150;
  const bool bounded = options.max_evaluations.has_value() || options.strategy == "exhaustive";
  if (options.patience || sizes == 1 || bounded) return options.patience;
  return kAmongSeveral;
}

/// Without what depends on the kernel: the sizes and the patience.
session::RunPlan session_plan(const TuneOptions& options) {
  session::RunPlan plan;
  plan.strategy = options.strategy;
  plan.seed = options.seed;
  plan.max_evaluations = options.max_evaluations;
  if (!options.max_time.empty()) plan.max_time = parse_duration(options.max_time, "--max-time");
  const int cores = static_cast<int>(std::max(2U, std::thread::hardware_concurrency()));
  plan.compile_threads = options.jobs > 0 ? options.jobs : cores - 1;
  plan.resume = options.fresh ? session::Resume::no : session::Resume::yes;
  plan.shared_device =
      options.allow_shared ? session::SharedDevice::accepted : session::SharedDevice::refused;
  plan.command = options.command_line;
  return plan;
}

Json finalist_json(const store::FinalistRecord& finalist) {
  return {{"role", finalist.role},
          {"config", finalist.config_json.empty() ? Json() : Json::parse(finalist.config_json)},
          {"median_ns", finalist.time.median_ns},
          {"ratio_to_best", finalist.ratio_to_best},
          {"ratio_low", finalist.ratio_low},
          {"ratio_high", finalist.ratio_high},
          {"rounds", finalist.time.samples}};
}

Json best_json(const session::SizeResult& result, const space::Dimensions& dims) {
  Json json = {{"size", space::size_json(result.size, dims)},
               {"evaluated", result.evaluated},
               {"reused", result.reused}};
  if (!result.library_problem.empty()) json["library_problem"] = result.library_problem;
  Json outcomes = Json::object();
  for (const auto& [outcome, count] : result.outcomes) outcomes[std::string(name(outcome))] = count;
  json["outcomes"] = outcomes;
  for (const store::TrialRecord& trial : result.reused_failures) {
    json["reused_failures"].push_back(
        {{"config", parse_json(trial.config_json, "a stored configuration")},
         {"outcome", std::string(name(trial.outcome))},
         {"message", trial.message}});
  }
  if (!result.best) return json;
  const store::BestRecord& best = *result.best;
  const auto optional = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  json["best"] = {{"config", parse_json(best.config_json, "a stored configuration")},
                  {"median_ns", best.time.median_ns},
                  {"q1_ns", best.time.q1_ns},
                  {"q3_ns", best.time.q3_ns},
                  {"library", best.library_name},
                  {"library_ns", optional(best.library_ns)},
                  {"default_ns", optional(best.default_ns)},
                  {"ratio_to_library", optional(best.ratio_to_library)},
                  {"ratio_to_default", optional(best.ratio_to_default)},
                  {"ties", best.ties}};
  for (const store::FinalistRecord& finalist : result.finalists) {
    json["finalists"].push_back(finalist_json(finalist));
  }
  return json;
}

void print_table(const family::Kernel& kernel, const session::RunResult& result,
                 const Output& output) {
  using Align = Table::Align;
  Table table({{kernel.name},
               {"time", Align::right},
               {"rate", Align::right},
               {"vs library", Align::right},
               {"vs default", Align::right},
               {"ties", Align::right},
               {"configuration", Align::left, Table::Place::below}});
  for (const session::SizeResult& size : result.sizes) {
    if (!size.best) {
      table.add({space::display(size.size, kernel.space->dims), "–", "–", "–", "–", "–",
                 format_failures(size.outcomes)});
      continue;
    }
    const store::BestRecord& best = *size.best;
    table.add({space::display(size.size, kernel.space->dims), quantity::time(best.time.median_ns),
               format_rate(best.flops, best.bytes, best.time.median_ns),
               format_ratio(best.ratio_to_library), format_ratio(best.ratio_to_default),
               fmt::format("{}", best.ties), size.winner_display});
  }
  output.table(table);
  for (const session::SizeResult& size : result.sizes) {
    if (size.library_problem.empty()) continue;
    output.tell("{}: final round without the library, which could not be timed: {}\n",
                space::display(size.size, kernel.space->dims), printable(size.library_problem));
  }
}

/// Why each result of an earlier run that was taken as it is had failed; equal reasons once.
void print_reused_failures(const session::RunResult& result, const space::Dimensions& dims) {
  constexpr std::size_t kMostShown = 20;
  for (const session::SizeResult& size : result.sizes) {
    std::map<std::pair<Outcome, std::string>, std::vector<std::string>> by_reason;
    for (const store::TrialRecord& trial : size.reused_failures) {
      by_reason[{trial.outcome, trial.message}].push_back(trial.config_json);
    }
    std::size_t shown = 0;
    for (const auto& [reason, configs] : by_reason) {
      if (++shown > kMostShown) break;
      tell(printable(fmt::format(
          "  failed before at {}: {}{}: {}: {}\n", space::display(size.size, dims), configs.front(),
          configs.size() == 1 ? "" : fmt::format(" and {} more", configs.size() - 1),
          name(reason.first), reason.second)));
    }
    if (by_reason.size() > kMostShown) {
      tell(fmt::format(
          "  … and {} more reasons: see `tune runs show` of the run that found them, or --json\n",
          by_reason.size() - kMostShown));
    }
  }
}

void print_totals(const session::RunResult& result) {
  std::uint64_t evaluated = 0, reused = 0;
  std::map<Outcome, std::uint64_t> outcomes;
  for (const session::SizeResult& size : result.sizes) {
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
    tell(fmt::format("  the device child was replaced {}\n",
                     quantity::count(static_cast<std::uint64_t>(result.respawns), "time")));
  }
  if (result.shared) {
    tell("  other processes used the device during the run: earlier bests are kept\n");
  }
  if (result.requeued > 0) {
    tell(fmt::format("  {} timed again because the device had drifted\n",
                     quantity::count(static_cast<std::uint64_t>(result.requeued), "trial")));
  }
}

bool has_best(const session::SizeResult& result) {
  return result.best.has_value();
}

/// What a command to copy needs to find the run: " --db PATH" where one was named.
std::string database_option(const CommonOptions& common) {
  if (!common.database) return "";
  return " " + shell_line(std::vector<std::string>{"--db", common.database->string()});
}

void print_next(const family::Kernel& kernel, const session::RunResult& result,
                const TuneOptions& options, const CommonOptions& common) {
  const std::string database = database_option(common);
  if (result.state == store::RunState::interrupted) {
    tell(fmt::format(
        "interrupted; everything so far is saved. Resume with the same command:\n  {}\n",
        options.command_line));
    return;
  }
  if (result.state == store::RunState::budget_spent) {
    tell("the time budget is used up; the same command continues the run\n");
  }
  const auto last_first = result.sizes | std::views::reverse;
  const auto tuned = std::ranges::find_if(last_first, has_best);
  if (tuned == last_first.end()) return;
  tell(fmt::format("next:\n  tune query --kernel {} --size {}{} --explain\n  tune report{}\n",
                   kernel.name, space::canonical_size(tuned->size, kernel.space->dims), database,
                   database));
}

/// Compiles the default configuration of every kernel and launches nothing.
int dry_run(const std::vector<TuningTask>& tasks, const space::DeviceInfo& device,
            const backend::Compiler& compiler, const CommonOptions& common) {
  const Output output(common);
  Json document = {
      {"schema", "tune.dry-run/1"}, {"device", device.name}, {"kernels", Json::array()}};
  for (const auto& [kernel, sizes] : tasks) {
    Json of_sizes = Json::array();
    for (const space::Size& size : sizes) {
      const space::Space space(kernel.space, device.attributes, size);
      of_sizes.push_back(
          {{"size", space::size_json(size, kernel.space->dims)}, {"valid", space.size()}});
      if (common.json) continue;
      output.tell("{} {}: {}\n", kernel.name, space::display(size, kernel.space->dims),
                  quantity::count(space.size(), "valid configuration"));
    }
    const space::Space space(kernel.space, device.attributes, sizes.front());
    const auto binary =
        compiler.compile(family::compile_job(kernel, space, space.default_config()));
    if (!binary) {
      throw Error(ErrorCode::failure,
                  fmt::format("{}: the default configuration does not compile:\n{}", kernel.name,
                              binary.error().message));
    }
    document["kernels"].push_back({{"kernel", kernel.name},
                                   {"sizes", std::move(of_sizes)},
                                   {"default_bytes", binary->image.size()}});
    if (common.json) continue;
    output.tell("{}: the default configuration compiles ({} bytes)\n", kernel.name,
                binary->image.size());
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

/// Everyone who follows a run, as the options ask.
void add_observers(Observers& observers, const CommonOptions& common, const TuneOptions& options) {
  const bool is_json = options.progress == "json";
  const auto style = common.quiet || is_json ? ProgressPrinter::Style::silent
                                             : ProgressPrinter::style_for_stderr();
  observers.add(std::make_unique<ProgressPrinter>(
      style,
      options.verbose ? ProgressPrinter::Trials::each : ProgressPrinter::Trials::summarised));
  if (is_json) observers.add(std::make_unique<EventLog>());
  if (!options.log.empty()) observers.add(std::make_unique<EventLog>(options.log));
}

}  // namespace

int tune(const CommonOptions& common, const TuneOptions& options) {
  if (options.space.empty()) {
    throw Error(ErrorCode::usage,
                "nothing to tune: name a space file, for example\n"
                "  tune --kernel gemm_shared --space spaces/gemm.json\n"
                "`tune --help` lists everything else");
  }
  if (std::ranges::count(search::strategy_names(), options.strategy) == 0) {
    throw Error(ErrorCode::usage,
                fmt::format("--strategy: there is no '{}'{}", options.strategy,
                            did_you_mean(options.strategy, search::strategy_names())));
  }
  const std::vector<std::string> progress = {"auto", "json"};
  if (std::ranges::count(progress, options.progress) == 0) {
    throw Error(ErrorCode::usage, fmt::format("--progress: there is no '{}'{}", options.progress,
                                              did_you_mean(options.progress, progress)));
  }
  const family::Family family = family::load_family(options.space);
  if (!options.kernel.empty()) static_cast<void>(family.kernel(options.kernel));
  OpenedDevice opened(options, family, options.seed);
  worker::DeviceProcess& device = opened.device();
  const backend::Compiler& compiler = opened.compiler();
  session::RunPlan plan = session_plan(options);
  std::optional<SlowNotice> notice;
  if (!common.quiet) notice.emplace("finding the valid configurations; Ctrl-C ends it");
  const std::vector<TuningTask> tasks = tuning_tasks(family, options, device.device());
  notice.reset();
  if (options.dry_run) return dry_run(tasks, device.device(), compiler, common);

  store::Store store = open_database(common, store::Store::Mode::read_write);
  const Interrupt interrupt;
  Observers observers;
  add_observers(observers, common, options);
  Json document = {
      {"schema", "tune.run/1"}, {"device", device.device().name}, {"kernels", Json::array()}};
  bool found = false;
  for (const auto& [kernel, tuned_sizes] : tasks) {
    if (interrupt.requested()) break;
    plan.sizes = tuned_sizes;
    plan.patience = patience(options, tuned_sizes.size());
    const session::RunResult result =
        session::tune_kernel(family, kernel, plan, device, compiler, store, observers,
                             [&] { return interrupt.requested(); });
    found = found || std::ranges::any_of(result.sizes, has_best);
    Json sizes = Json::array();
    for (const session::SizeResult& size : result.sizes)
      sizes.push_back(best_json(size, family.problem.dims));
    document["kernels"].push_back({{"kernel", kernel.name},
                                   {"session", result.uuid},
                                   {"state", std::string(store::name(result.state))},
                                   {"wall_s", result.wall_s},
                                   {"shared", result.shared},
                                   {"sizes", sizes}});
    if (!common.json) print_table(kernel, result, Output(common));
    if (!common.quiet && options.progress != "json") {
      print_totals(result);
      print_reused_failures(result, family.problem.dims);
      print_next(kernel, result, options, common);
    }
  }
  if (common.json) fmt::print("{}", json_text(document));
  if (!options.report.empty()) {
    for (const auto& path : report::write_reports(store, device.device().name, options.report)) {
      tell(fmt::format("report: {}\n", path.string()));
    }
  }
  if (interrupt.exit_code()) return *interrupt.exit_code();
  if (!found) {
    throw Error(ErrorCode::no_valid_config,
                fmt::format("no configuration ended ok; `tune runs show{}` lists why each failed",
                            database_option(common)));
  }
  return 0;
}

}  // namespace tuner::cli
