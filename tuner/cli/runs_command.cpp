// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/failing_values.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/record_json.hpp"
#include "tuner/cli/reproduction.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/terminal.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/shell_words.hpp"
#include "tuner/session/size_cost.hpp"
#include "tuner/store/records.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

using Align = Table::Align;

std::string seconds(double value) {
  return fmt::format("{:.1f} s", value);
}

nlohmann::json trial_cost_json(const session::TrialCost& cost) {
  return {{"trials", cost.trials}, {"compile_s", cost.compile_s}, {"device_s", cost.device_s}};
}

/// The cards that sizes were won on, each with a number in the order of their first sizes.
class WinningCards {
 public:
  explicit WinningCards(const std::vector<store::CardRecord>& cards)
      : last_(store::last_cards(cards)) {
    for (const store::CardRecord& card : cards) {
      const bool counts = last_.at(card.problem).uuid == card.uuid;
      if (counts && std::ranges::find(uuids_, card.uuid) == uuids_.end()) {
        uuids_.push_back(card.uuid);
        places_.push_back(card.job.empty() ? card.host
                                           : fmt::format("{}, job {}", card.host, card.job));
      }
    }
  }

  [[nodiscard]] bool are_several() const { return uuids_.size() > 1; }
  [[nodiscard]] std::string number(const std::string& problem) const {
    const auto found = last_.find(problem);
    if (found == last_.end()) return "–";
    return fmt::format("{}", std::ranges::find(uuids_, found->second.uuid) - uuids_.begin());
  }
  /// A line for each.
  [[nodiscard]] std::string legend() const {
    std::string text;
    for (std::size_t i = 0; i < uuids_.size(); ++i) {
      const auto won = std::ranges::count_if(
          last_, [&](const auto& size) { return size.second.uuid == uuids_[i]; });
      text +=
          fmt::format("  card {}: {} ({}), {}\n", i, printable(uuids_[i]), printable(places_[i]),
                      quantity::count(static_cast<std::uint64_t>(won), "size"));
    }
    return text;
  }

 private:
  std::map<std::string, store::CardRecord> last_;
  std::vector<std::string> uuids_, places_;
};

/// What a run took at each size, as a table with an explanation below it. Where the run had several
/// cards it says on which each size was won; `cards` are as of Store::cards.
std::string costs_text(std::span<const session::SizeCost> costs,
                       const std::vector<store::CardRecord>& cards, const Terminal& terminal) {
  const WinningCards winning(cards);
  std::vector<Table::Column> columns = {{"size"},
                                        {"trials", Align::right},
                                        {"shared", Align::right},
                                        {"compile", Align::right},
                                        {"device", Align::right},
                                        {"until 3 %", Align::right},
                                        {"after", Align::right},
                                        {"compiled", Align::right},
                                        {"on device", Align::right}};
  if (winning.are_several()) columns.push_back({"card", Align::right});
  Table table(columns);
  for (const session::SizeCost& cost : costs) {
    std::vector<std::string> row{shown_size(cost.problem), fmt::format("{}", cost.all.trials),
                                 fmt::format("{}", cost.shared), seconds(cost.all.compile_s),
                                 seconds(cost.all.device_s)};
    if (const auto& near = cost.to_near_best) {
      row.insert(row.end(), {fmt::format("{}", near->trials), seconds(cost.elapsed_s),
                             seconds(near->compile_s), seconds(near->device_s)});
    } else {
      row.insert(row.end(), 4, "–");
    }
    if (winning.are_several()) row.push_back(winning.number(cost.problem));
    table.add(std::move(row));
  }
  return table.text(terminal) + (winning.are_several() ? winning.legend() : "") +
         "  shared: trials that reused a compiled kernel; compile: summed over all compilers; "
         "until "
         "3 %, after, compiled, on device: trials, wall time since the first one, and time of "
         "compilers and device until one was within 3 % of the run's best at the size\n";
}

/// Costs as a list of objects, each with the uuid of its card where that is known.
nlohmann::json costs_json(std::span<const session::SizeCost> costs,
                          const std::vector<store::CardRecord>& cards) {
  const auto last = store::last_cards(cards);
  nlohmann::json list = nlohmann::json::array();
  for (const session::SizeCost& cost : costs) {
    nlohmann::json size = trial_cost_json(cost.all);
    size["size"] = cost.problem;
    size["shared_compilations"] = cost.shared;
    if (const auto card = last.find(cost.problem); card != last.end()) {
      size["card"] = {
          {"uuid", card->second.uuid}, {"host", card->second.host}, {"job", card->second.job}};
    }
    if (cost.to_near_best) {
      size["to_within_3_percent"] = trial_cost_json(*cost.to_near_best);
      size["to_within_3_percent"]["elapsed_s"] = cost.elapsed_s;
    }
    list.push_back(std::move(size));
  }
  return list;
}

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
  Json json = {{"session", run.uuid},      {"started_at", run.started_at},
               {"ended_at", run.ended_at}, {"state", std::string(store::name(run.state))},
               {"device", run.device},     {"backend", run.backend},
               {"family", run.family},     {"kernel", run.kernel},
               {"problems", run.problems}, {"merged", run.merged}};
  add_fields(json, run);
  return json;
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
    output.list(table);
  }
  return 0;
}

struct FailureGroup {
  std::uint64_t count = 0;
  store::TrialRecord first;
  /// The first that no failing value explains, where one explains `first`.
  std::optional<store::TrialRecord> other = {};
};

/// What `tune runs show` tells.
struct RunDetails {
  store::RunRecord run;
  std::size_t trials = 0;
  std::map<Outcome, std::uint64_t> outcomes = {};
  std::map<Outcome, FailureGroup> failures = {};
  std::vector<FailingValue> failing_values = {};
  std::vector<session::SizeCost> costs = {};
  std::vector<store::CardRecord> cards = {};
};

RunDetails details_of(const store::Store& store, const std::string& id) {
  const auto run = id.empty()
                       ? (store.runs().empty() ? std::nullopt : std::optional(store.runs().front()))
                       : store.run(id);
  if (!run && id.empty()) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{}: no runs; `tune --space FILE` starts one", store.path().string()));
  }
  if (!run) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: no run '{}'; `tune runs list` shows them", store.path().string(), id));
  }
  const std::vector<store::StoredTrial> all = store.trials(run->id);
  const std::vector<store::StoredTrial> trials = store::standing_trials(all);
  RunDetails details{.run = *run,
                     .trials = trials.size(),
                     .failing_values = failing_values(trials),
                     .costs = session::size_costs(all),
                     .cards = store.cards(run->id)};
  std::map<Outcome, bool> is_first_explained;
  for (const store::StoredTrial& stored : trials) {
    const store::TrialRecord& trial = stored.trial;
    ++details.outcomes[trial.outcome];
    if (trial.outcome == Outcome::ok) continue;
    FailureGroup& group = details.failures[trial.outcome];
    const Json config = parse_json(trial.config_json, "a stored configuration");
    const bool is_explained = std::ranges::any_of(
        details.failing_values, [&](const FailingValue& value) { return value.is_in(config); });
    if (group.count++ == 0) {
      group.first = trial;
      is_first_explained[trial.outcome] = is_explained;
    } else if (!is_explained && is_first_explained[trial.outcome] && !group.other) {
      group.other = trial;
    }
  }
  return details;
}

Json details_json(const RunDetails& details) {
  Json document = run_json(details.run);
  document["schema"] = "tune.run/1";
  document["sizes"] = costs_json(details.costs, details.cards);
  for (const auto& [outcome, count] : details.outcomes) {
    document["outcomes"][std::string(name(outcome))] = count;
  }
  for (const auto& [outcome, group] : details.failures) {
    document["failures"].push_back(
        {{"outcome", std::string(name(outcome))},
         {"count", group.count},
         {"example", group.first.message},
         {"config", parse_json(group.first.config_json, "a stored configuration")},
         {"size", group.first.problem},
         {"seed", group.first.check_seed},
         {"reproduce", bench_command(details.run, group.first)}});
  }
  for (const FailingValue& value : details.failing_values) {
    document["failing_values"].push_back({{"parameter", value.parameter},
                                          {"value", parse_json(value.value, "a stored value")},
                                          {"trials", value.trials}});
  }
  return document;
}

void print_details(const RunDetails& details, const Output& output) {
  const store::RunRecord& run = details.run;
  const std::string spent =  // known when it ends
      run.ended_at.empty()
          ? ""
          : fmt::format(", {:.1f} s: compile {:.1f} s, verify {:.1f} s, measure {:.1f} s",
                        run.wall_s, run.compile_s, run.verify_s, run.measure_s);
  output.tell(
      "run {} ({})\n  {} on {}, sizes {}\n  started {}{}\n"
      "  {}; failed: {}\n",
      printable_name(run.uuid), store::state_text(run), printable_name(run.kernel),
      printable_name(run.device), printable_name(brief(run.problems)),
      printable_name(run.started_at), spent, quantity::count(details.trials, "trial"),
      format_failures(details.outcomes));
  output.print("  command{}: {}\n", run.merged ? " elsewhere" : "",
               run.merged ? foreign_command(run.command) : own_command(run.command));
  if (run.respawns > 0) {
    output.tell("  the device child was replaced {}\n",
                quantity::count(static_cast<std::uint64_t>(run.respawns), "time"));
  }
  if (run.merged) {
    output.tell("  merged from another database: nothing of it was verified on this machine\n");
  }
  if (run.shared) output.tell("  other processes used the device during the run\n");
  if (!details.costs.empty()) {
    output.tell("\n{}", costs_text(details.costs, details.cards, output.terminal()));
  }
  for (const auto& [outcome, group] : details.failures) {
    output.tell("\n{} {}, the first at {}:\n  {}\n", group.count, name(outcome),
                printable_name(group.first.config_json), printable(group.first.message));
    const std::string again = bench_command(run, group.first);
    if (!again.empty()) output.print("  to reproduce it:\n    {}\n", printable(again));
    if (group.other) {
      output.tell("another at {}:\n  {}\n", printable_name(group.other->config_json),
                  printable(group.other->message));
    }
  }
  if (details.failing_values.empty()) return;
  constexpr std::size_t kMostShown = 5;
  output.tell("\nvalues with which no trial ended ok:\n");
  for (const FailingValue& value : details.failing_values | std::views::take(kMostShown)) {
    output.tell("  {}={} ({})\n", printable_name(value.parameter), printable_name(value.value),
                quantity::count(value.trials, "trial"));
  }
}

int show(const store::Store& store, const CommonOptions& common, const std::string& id) {
  const RunDetails details = details_of(store, id);
  if (common.json) {
    fmt::print("{}", json_text(details_json(details)));
  } else {
    print_details(details, Output(common));
  }
  return 0;
}

}  // namespace

int runs(const CommonOptions& common, const RunsOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  return options.action == "list" ? list(store, common) : show(store, common, options.id);
}

}  // namespace tuner::cli
