// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_runs.hpp"

#include "tuner/cli/coverage.hpp"
#include "tuner/cli/event_log.hpp"
#include "tuner/cli/explained_winner.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/progress.hpp"
#include "tuner/cli/record_json.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <tuple>
#include <variant>

namespace tuner::cli {
namespace {

struct Effort {
  const char* word;
  std::optional<std::uint64_t> max_evaluations;
  std::optional<std::uint64_t> patience;
  std::size_t most_finalists;
  session::EnergyChoice energy;
};

/// Rows of the table in docs/reference/command-line.md.
constexpr std::array<Effort, 3> kEfforts = {
    {{"quick", 100, 30, 4, session::EnergyChoice::never},
     {"normal", {}, 150, session::kMostFinalists, session::EnergyChoice::when_short},
     {"full", {}, {}, session::kMostFinalists, session::EnergyChoice::when_short}}};

const Effort& effort_of(const std::string& word) {
  std::vector<std::string> words;
  for (const Effort& effort : kEfforts) words.emplace_back(effort.word);
  require_word("--effort", word, words);
  return *std::ranges::find(kEfforts, word, &Effort::word);
}

}  // namespace

void set_effort(session::RunPlan& plan, const TuneOptions& options) {
  const Effort& effort = effort_of(options.effort);
  // What is bounded by the user is searched up to that bound.
  const bool bounded = options.max_evaluations.has_value() || options.strategy == "exhaustive";
  plan.max_evaluations = bounded ? options.max_evaluations : effort.max_evaluations;
  plan.patience = bounded || options.patience ? options.patience : effort.patience;
  plan.most_finalists = effort.most_finalists;
  using enum session::EnergyChoice;
  plan.energy = !options.energy ? effort.energy : *options.energy ? always : never;
}

bool Observers::shows_library() const {
  return std::ranges::any_of(all_, [](const auto& each) { return each->shows_library(); });
}

void Observers::tell(const session::Event& event) {
  for (const auto& each : all_) each->tell(event);
}

namespace {

using Align = Table::Align;

/// Without what depends on the kernel: the sizes and the time.
session::RunPlan run_plan(const TuneOptions& options) {
  session::RunPlan plan;
  plan.strategy = options.strategy;
  plan.seed = options.seed;
  set_effort(plan, options);
  plan.resume = options.fresh ? session::Resume::no : session::Resume::yes;
  plan.shared_device =
      options.allow_shared ? session::SharedDevice::accepted : session::SharedDevice::refused;
  plan.command = options.command_line;
  return plan;
}

session::TimeBudget time_budget(const TuneOptions& options) {
  if (options.max_time.empty()) return session::TimeBudget(std::nullopt);
  return session::TimeBudget(parse_duration(options.max_time, "--max-time"));
}

Json size_json(const session::SizeResult& result, const space::Dimensions& dims) {
  Json json = {{"size", space::size_json(result.size, dims)},
               {"evaluated", result.evaluated},
               {"reused", result.reused},
               {"card", result.card.uuid}};
  if (!result.library_problem.empty()) json["library_problem"] = result.library_problem;
  if (!result.caution.empty()) json["caution"] = result.caution;
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
  json["best"] = best_json(*result.best);
  json["best"]["confirmed"] = !result.finalists.empty();
  json["best"]["metric"] = store::kTimeMetric;
  for (const store::FinalistRecord& finalist : result.finalists) {
    json["finalists"].push_back(finalist_json(finalist));
  }
  return json;
}

double busy_s(const session::CardResult& card) {
  return card.verify_s + card.measure_s;
}

Json card_json(const session::CardResult& card) {
  Json json = {{"device", card.card.name},  {"uuid", card.card.uuid},
               {"host", card.card.host},    {"sizes", card.sizes},
               {"verify_s", card.verify_s}, {"measure_s", card.measure_s}};
  if (!card.dropped.empty()) json["dropped"] = card.dropped;
  return json;
}

void print_table(const family::Kernel& kernel, const std::string& title,
                 const session::RunResult& result, const Output& output) {
  std::vector<const store::BestRecord*> bests;
  for (const session::SizeResult& size : result.sizes) {
    if (size.best) bests.push_back(&*size.best);
  }
  // One measure for all sizes; of the default every size has single launches alone.
  const store::CommonMeasure measure(bests);
  const bool back_to_back = measure.is_back_to_back();
  const auto to_library = [&](const store::BestRecord& best) {
    return back_to_back ? best.ratio_to_library : store::cold_ratio_to_library(best);
  };
  Table table({{title},
               {back_to_back ? "back to back" : "cold", Align::right},
               {"rate", Align::right},
               {"vs library", Align::right},
               {back_to_back ? "vs default, cold" : "vs default", Align::right},
               {"ties", Align::right},
               {"configuration", Align::left, Table::Place::below}});
  for (const session::SizeResult& size : result.sizes) {
    if (!size.best) {
      table.add({space::display(size.size, kernel.space->dims), "–", "–", "–", "–", "–",
                 size.evaluated == 0 ? "–" : format_failures(size.outcomes)});
      continue;
    }
    const store::BestRecord& best = *size.best;
    table.add({space::display(size.size, kernel.space->dims), quantity::time(measure.ns(best)),
               format_rate(best.flops, best.bytes, measure.ns(best)),
               format_ratio(to_library(best)), format_ratio(store::cold_gain(best)),
               size.finalists.empty() ? "–" : fmt::format("{}", best.ties), size.winner_display});
  }
  output.table(table);
  for (const session::SizeResult& size : result.sizes) {
    const std::string at = space::display(size.size, kernel.space->dims);
    if (!size.library_problem.empty()) {
      output.tell("{}: final round without the library, which could not be timed: {}\n", at,
                  printable(size.library_problem));
    }
    if (size.best && size.best->joules) {
      output.tell("{}: {}\n", at, format_energy(size.best->flops, *size.best->joules));
    }
    if (size.best && size.finalists.empty()) {
      output.tell(
          "{}: best by search times, without a final round: no result yet; `tune finalize` holds "
          "it\n",
          at);
    }
    if (!size.best && size.evaluated == 0) output.tell("{}: not reached in the time\n", at);
    if (size.left_out > 0) {
      output.tell("{}: shortened final round: no time for {}\n", at,
                  quantity::count(size.left_out, "further finalist"));
    }
    if (!size.caution.empty()) output.tell("warning: {}: {}\n", at, size.caution);
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
  const auto run = static_cast<double>(evaluated - reused);
  const double wall_s = std::max(result.wall_s, 1e-3);
  const double device_s =
      (result.verify_s + result.measure_s) / static_cast<double>(result.cards.size());
  tell(fmt::format(
      "  {} in {:.1f} s ({:.1f} a second; {} from the database), failed: {}\n"
      "  {} busy {:.0f} % of it (verify {:.1f} s, measure {:.1f} s), {} busy {:.0f} "
      "% ({:.1f} s)\n",
      quantity::count(evaluated, "trial"), result.wall_s, run / wall_s, quantity::count(reused),
      format_failures(outcomes), result.cards.size() == 1 ? "device" : "devices",
      100 * device_s / wall_s, result.verify_s, result.measure_s,
      quantity::count(static_cast<std::uint64_t>(result.compile_threads), "compiler"),
      100 * result.compile_s / wall_s / result.compile_threads, result.compile_s));
  if (result.cards.size() > 1 || !result.cards.front().card.host.empty()) {
    for (const session::CardResult& card : result.cards) {
      tell(fmt::format("  device {} ({}) busy {:.0f} %, {}{}\n", card.card.name,
                       format_card(card.card), 100 * busy_s(card) / wall_s,
                       quantity::count(card.sizes, "size"),
                       card.dropped.empty() ? "" : ", then dropped"));
    }
  }
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

/// Puts what a run says of the reference into its document.
class CoverageRecorder final : public session::Observer {
 public:
  explicit CoverageRecorder(Json& document) : document_(document) {}

  void tell(const session::Event& event) override {
    const auto* coverage = std::get_if<verify::Coverage>(&event);
    if (coverage == nullptr || !document_["coverage"].is_null()) return;
    document_["coverage"] = coverage_json(*coverage);
  }

 private:
  Json& document_;
};

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

int compile_threads(const TuneOptions& options) {
  return options.jobs > 0 ? options.jobs : spare_cores();
}

TuningRuns::TuningRuns(const CommonOptions& common, const TuneOptions& options)
    : common_(common), options_(options), time_(time_budget(options)), plan_(run_plan(options)) {
  require_word("--progress", options.progress, std::vector<std::string>{"auto", "json"});
  add_observers(observers_, common, options);
  document_ = {{"schema", "tune.run/1"},
               {"device", nullptr},
               {"coverage", nullptr},
               {"kernels", Json::array()}};
  observers_.add(std::make_unique<CoverageRecorder>(document_));
}

bool TuningRuns::limit_time(std::chrono::milliseconds time) {
  const bool is_bounded = time_.is_limited() || options_.max_evaluations ||
                          options_.strategy == "exhaustive" || options_.effort == "full";
  if (!is_bounded) time_ = session::TimeBudget(time);
  return !is_bounded;
}

bool TuningRuns::compete(const std::vector<TuningTask>& tasks,
                         session::Candidates candidates) const {
  const bool bounded = options_.max_evaluations || options_.strategy == "exhaustive";
  return tasks.size() > 1 && candidates == session::Candidates::all && !bounded &&
         time_.is_limited();
}

void TuningRuns::run(const family::Family& family, const std::vector<TuningTask>& tasks,
                     const ModelCards& model, store::Store& store, session::Candidates candidates,
                     double share) {
  const std::string& device = model.device->device().name;
  if (document_["device"].is_null()) document_["device"] = device;
  if (!interrupt_) interrupt_.emplace();
  session::RunPlan plan = plan_;
  plan.candidates = candidates;
  if (candidates == session::Candidates::known) plan.patience.reset();
  plan.shipped =
      select::shipped_winners(model.device->device().backend, family.name, [](const Error& error) {
        tell(fmt::format("{}; the search continues without it", error.what()));
      });
  KernelRuns runs(family, model, store, observers_, [this] { return interrupt_->requested(); });
  const session::TimeBudget time = time_.part(share);
  std::vector<TuningTask> chosen = tasks;
  if (compete(tasks, candidates)) {
    FirstRound first = runs.first_round(tasks, plan, time);
    if (!common_.quiet) tell(first.text);
    document_["first_rounds"].push_back(std::move(first.document));
    chosen = std::move(first.going_on);
  }
  const std::vector<std::string> not_reached =
      runs.run(chosen, plan, time, [&](const TuningTask& task, const session::RunResult& result) {
        take(family, task.kernel, device, result);
      });
  if (!not_reached.empty()) {
    tell(fmt::format("no time was left for {}; the same command continues\n",
                     fmt::join(not_reached, ", ")));
  }
}

void TuningRuns::take(const family::Family& family, const family::Kernel& kernel,
                      const std::string& device, const session::RunResult& result) {
  found_ = found_ || std::ranges::any_of(result.sizes, has_best);
  evaluated_ = evaluated_ || std::ranges::any_of(
                                 result.sizes, [](const auto& size) { return size.evaluated > 0; });
  for (const session::SizeResult& size : result.sizes) {
    if (first_failure_.empty()) first_failure_ = size.first_failure;
  }
  tell_result(family, kernel, device, result);
  TuningTask won{.kernel = kernel, .sizes = {}};
  ConfirmedRatios& confirmed =
      confirmed_.try_emplace(family.name, ConfirmedRatios{.dims = family.problem.dims})
          .first->second;
  for (const session::SizeResult& size : result.sizes) {
    if (size.finalists.empty()) continue;
    won.sizes.push_back(size.size);
    if (!size.best->ratio_to_library) continue;
    library_ = size.best->library_name.substr(0, size.best->library_name.find(' '));
    double& ratio = confirmed.by_size[size.size];
    ratio = std::max(ratio, *size.best->ratio_to_library);
  }
  won_[device].push_back(std::move(won));
}

void TuningRuns::explain_winners(const family::Family& family, store::Store& store,
                                 OpenedDevice& opened) {
  const Output output(common_);
  const auto stop = [&] { return interrupt_ && interrupt_->requested(); };
  for (const TuningTask& task : won_[opened.device().device().name]) {
    const auto& [kernel, sizes] = std::tie(task.kernel, task.sizes);
    for (const space::Size& size : sizes) {
      if (stop()) return;
      try {
        ExplainedWinner winner = explain_winner(store, family, kernel, size, opened, stop);
        if (!common_.json) output.tell("{}", winner.text);
        document_["explanations"].push_back(std::move(winner.document));
      } catch (const Error& error) {
        tell(fmt::format("{} at {} is not explained: {}\n", kernel.name,
                         space::display(size, family.problem.dims), error.what()));
      }
    }
  }
}

void TuningRuns::tell_result(const family::Family& family, const family::Kernel& kernel,
                             const std::string& device, const session::RunResult& result) {
  Json sizes = Json::array();
  for (const session::SizeResult& size : result.sizes) {
    sizes.push_back(size_json(size, family.problem.dims));
  }
  Json cards = Json::array();
  for (const session::CardResult& card : result.cards) cards.push_back(card_json(card));
  document_["kernels"].push_back({{"kernel", kernel.name},
                                  {"device", device},
                                  {"cards", std::move(cards)},
                                  {"session", result.uuid},
                                  {"state", std::string(store::name(result.state))},
                                  {"wall_s", result.wall_s},
                                  {"shared", result.shared},
                                  {"sizes", sizes}});
  // The first run of a command says on stderr what it runs on.
  const bool another = document_["device"] != device;
  if (!common_.json) {
    print_table(kernel, another ? fmt::format("{} on {}", kernel.name, device) : kernel.name,
                result, Output(common_));
  }
  if (common_.quiet || options_.progress == "json") return;
  print_totals(result);
  print_reused_failures(result, family.problem.dims);
  print_next(kernel, result, options_, common_);
}

void TuningRuns::tell_gain(std::span<const family::RecordedCalls> recordings) {
  const RecordedGain gain = recorded_gain(recordings, confirmed_);
  const std::string text = gain_text(gain, library_);
  if (text.empty()) return;
  document_["gain"] = {{"products", gain.products},
                       {"without_a_final_round", gain.unconfirmed},
                       {"library_fastest", gain.library_first},
                       {"recorded_ns", gain.all_ns},
                       {"products_ns", gain.products_ns},
                       {"saved_ns", gain.saved_ns}};
  if (!common_.json) Output(common_).tell("{}", text);
}

void TuningRuns::print_result() const {
  if (common_.json) fmt::print("{}", json_text(document_));
}

int TuningRuns::exit_code() const {
  if (interrupt_ && interrupt_->exit_code()) return *interrupt_->exit_code();
  if (!found_) {
    throw Error(ErrorCode::no_valid_config,
                evaluated_
                    ? fmt::format("no configuration ended ok; the first one: {}\n"
                                  "`tune runs show{}` lists why each failed",
                                  first_failure_, database_option(common_))
                    : fmt::format("no configuration ended ok in earlier runs, and failures are not "
                                  "repeated; `tune runs list{0}` and `tune runs show RUN{0}` list "
                                  "why each failed",
                                  database_option(common_)));
  }
  return 0;
}

}  // namespace tuner::cli
