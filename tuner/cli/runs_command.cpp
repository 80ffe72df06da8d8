// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/reproduction.hpp"
#include "tuner/cli/run_costs.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

/// The sizes of a run in a line of a table: all of a few, else the first ones and how many.
std::string brief(const std::vector<std::string>& problems) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown;
  for (const std::string& problem : problems) {
    if (shown.size() < kShown) shown.push_back(shown_size(problem));
  }
  const std::string rest =
      problems.size() > kShown ? fmt::format(" … ({} sizes)", problems.size()) : "";
  return fmt::format("{}{}", fmt::join(shown, " "), rest);
}

using Align = Table::Align;

std::string short_uuid(const store::RunRecord& run) {
  return run.uuid.substr(0, 8);
}

Json run_json(const store::RunRecord& run) {
  return {{"session", run.uuid},      {"started_at", run.started_at},
          {"ended_at", run.ended_at}, {"state", std::string(store::name(run.state))},
          {"device", run.device},     {"backend", run.backend},
          {"family", run.family},     {"kernel", run.kernel},
          {"problems", run.problems}, {"strategy", run.strategy},
          {"seed", run.seed},         {"valid", run.valid},
          {"wall_s", run.wall_s},     {"command", run.command},
          {"merged", run.merged}};
}

Color color_of_state(std::string_view state) {
  return state == "interrupted" ? Color::yellow : Color::none;
}

int list(const store::Store& store, const CommonOptions& common) {
  const std::vector<store::RunRecord> runs = store.runs();
  if (common.json) {
    Json document = {{"schema", "tune.runs/1"}, {"sessions", Json::array()}};
    for (const store::RunRecord& run : runs) document["sessions"].push_back(run_json(run));
    fmt::print("{}", json_text(document));
    return 0;
  }
  Table table({{"run"},
               {"started"},
               {"state", Align::left, Table::Place::in_row, color_of_state},
               {"device"},
               {"kernel"},
               {"wall", Align::right},
               {"sizes", Align::left, Table::Place::below}});
  for (const store::RunRecord& run : runs) {
    table.add({short_uuid(run), run.started_at, store::state_text(run), run.device, run.kernel,
               run.ended_at.empty() ? "–" : fmt::format("{:.1f} s", run.wall_s),
               brief(run.problems)});
  }
  const Output output(common);
  if (table.is_empty()) {
    output.tell("no runs in {}; `tune --space FILE` starts one\n", store.path().string());
  } else {
    output.table(table);
  }
  return 0;
}

struct FailureGroup {
  std::uint64_t count = 0;
  store::TrialRecord first;
};

int show(const store::Store& store, const CommonOptions& common, const std::string& id) {
  const auto run = id.empty()
                       ? (store.runs().empty() ? std::nullopt : std::optional(store.runs().front()))
                       : store.run(id);
  if (!run) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: no run '{}'; `tune runs list` shows them", store.path().string(), id));
  }
  std::map<Outcome, std::uint64_t> outcomes;
  std::map<Outcome, FailureGroup> failures;
  const std::vector<store::StoredTrial> all = store.trials(run->id);
  const std::vector<session::SizeCost> costs = session::size_costs(all);
  const std::vector<store::CardRecord> cards = store.cards(run->id);
  const std::vector<store::StoredTrial> trials = store::standing_trials(all);
  for (const store::StoredTrial& stored : trials) {
    const store::TrialRecord& trial = stored.trial;
    ++outcomes[trial.outcome];
    if (trial.outcome == Outcome::ok) continue;
    FailureGroup& group = failures[trial.outcome];
    if (group.count++ == 0) group.first = trial;
  }
  if (common.json) {
    Json document = run_json(*run);
    document["schema"] = "tune.run/1";
    document["sizes"] = costs_json(costs, cards);
    for (const auto& [outcome, count] : outcomes)
      document["outcomes"][std::string(name(outcome))] = count;
    for (const auto& [outcome, group] : failures) {
      document["failures"].push_back(
          {{"outcome", std::string(name(outcome))},
           {"count", group.count},
           {"example", group.first.message},
           {"config", parse_json(group.first.config_json, "a stored configuration")},
           {"size", group.first.problem},
           {"seed", group.first.check_seed},
           {"reproduce", bench_command(*run, group.first)}});
    }
    fmt::print("{}", json_text(document));
    return 0;
  }
  const Output output(common);
  output.tell(
      "run {} ({})\n  {} on {}, sizes {}\n  started {}, {:.1f} s: compile {:.1f} s, verify "
      "{:.1f} s, measure {:.1f} s\n"
      "  {}; failed: {}\n",
      printable_name(run->uuid), store::state_text(*run), printable_name(run->kernel),
      printable_name(run->device), printable_name(brief(run->problems)),
      printable_name(run->started_at), run->wall_s, run->compile_s, run->verify_s, run->measure_s,
      quantity::count(trials.size(), "trial"), format_failures(outcomes));
  output.print("  command{}: {}\n", run->merged ? " elsewhere" : "",
               run->merged ? foreign_command(run->command) : own_command(run->command));
  if (run->respawns > 0) {
    output.tell("  the device child was replaced {}\n",
                quantity::count(static_cast<std::uint64_t>(run->respawns), "time"));
  }
  if (run->merged) {
    output.tell("  merged from another database: nothing of it was verified on this machine\n");
  }
  if (run->shared) output.tell("  other processes used the device during the run\n");
  if (!costs.empty()) output.tell("\n{}", costs_text(costs, cards, output.terminal()));
  for (const auto& [outcome, group] : failures) {
    output.tell("\n{} {}, the first at {}:\n  {}\n", group.count, name(outcome),
                printable_name(group.first.config_json), printable(group.first.message));
    const std::string again = bench_command(*run, group.first);
    if (!again.empty()) output.print("  to reproduce it:\n    {}\n", printable(again));
  }
  return 0;
}

}  // namespace

int runs(const CommonOptions& common, const RunsOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  return options.action == "list" ? list(store, common) : show(store, common, options.id);
}

}  // namespace tuner::cli
