// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace tuner::report {
namespace {

using store::FinalistRecord;

/// The final round of a size: what it chose, and what was fastest in it.
struct Round {
  const FinalistRecord* winner = nullptr;
  const FinalistRecord* fastest = nullptr;    ///< of the configurations
  bool is_behind = false;                     ///< the library is certainly faster than the winner
  std::vector<const FinalistRecord*> others;  ///< configurations besides the winner, fastest first
};

Round round_of(const SizeHistory& size) {
  Round round;
  round.winner = winner_of(size.finalists);
  if (round.winner == nullptr) return round;
  round.fastest = round.winner;
  for (const FinalistRecord& finalist : size.finalists) {
    if (finalist.role.starts_with("library")) {
      const bool has_interval = finalist.ratio_high > 0;
      round.is_behind |= (has_interval ? finalist.ratio_high : finalist.ratio_to_best) < 1;
      continue;
    }
    if (&finalist == round.winner) continue;
    round.others.push_back(&finalist);
    if (finalist.ratio_to_best < round.fastest->ratio_to_best) round.fastest = &finalist;
  }
  std::ranges::stable_sort(round.others, {}, &FinalistRecord::ratio_to_best);
  return round;
}

const ReportedTrial* trial_of(const KernelHistory& kernel, const SizeHistory& size,
                              const FinalistRecord& finalist) {
  const auto config = kernel.configs.find(finalist.config);
  if (!config) return nullptr;
  const auto found = std::ranges::find(size.evaluations, *config, &ReportedTrial::config);
  return found == size.evaluations.end() ? nullptr : &*found;
}

/// "less energy, 1.2 J per execution instead of 1.4"; empty where not every window says so.
std::string less_energy(const FinalistRecord& winner, const FinalistRecord& other) {
  if (!winner.energy || !other.energy) return "";
  if (winner.energy->max_joules >= other.energy->min_joules) return "";
  return fmt::format("less energy, {} J per execution instead of {}",
                     format_number(winner.energy->joules), format_number(other.energy->joules));
}

/// By which rule the winner was preferred to the fastest (session::FinalRound).
std::string rule_of(const KernelHistory& kernel, const SizeHistory& size, const Round& round) {
  std::string energy = less_energy(*round.winner, *round.fastest);
  if (!energy.empty()) return energy;
  if (round.winner->role == "incumbent") return "the previous best";
  if (round.winner->role == "default") return "the default";
  const ReportedTrial* chosen = trial_of(kernel, size, *round.winner);
  const ReportedTrial* other = trial_of(kernel, size, *round.fastest);
  if (chosen == nullptr || other == nullptr) return "fewer registers, then less shared memory";
  if (chosen->registers != other->registers) {
    return fmt::format("fewer registers, {} instead of {}", chosen->registers, other->registers);
  }
  if (chosen->shared_bytes != other->shared_bytes) {
    return fmt::format("less shared memory, {} instead of {}",
                       format_bytes(static_cast<double>(chosen->shared_bytes)),
                       format_bytes(static_cast<double>(other->shared_bytes)));
  }
  return "the order of the space";
}

/// By how much the winner's time exceeds another's, of the ratio that the table shows: 0.7 %.
std::string lead(double ratio) {
  return format_percent(1 / rounded(ratio) - 1);
}

/// By how much a time exceeds the winner's, likewise.
std::string excess(double ratio) {
  return format_percent(rounded(ratio) - 1);
}

std::string winner_is_fastest(const Round& round) {
  if (round.others.empty()) return "It is the only configuration.";
  const std::string_view best = round.is_behind
                                    ? "The library is faster. The chosen one is the best of ours"
                                    : "The winner is the fastest";
  const auto close = std::ranges::count_if(
      round.others, [](const FinalistRecord* it) { return it->ratio_low <= 1.0; });
  if (close > 0) {
    return fmt::format("{}; {} cannot be told from it (95\u00a0%).", best,
                       format_plural(static_cast<std::uint64_t>(close), "other configuration",
                                     "other configurations"));
  }
  return fmt::format("{}; the next takes {} longer (95\u00a0%: {} to {}).", best,
                     excess(round.others.front()->ratio_to_best),
                     excess(round.others.front()->ratio_low),
                     excess(round.others.front()->ratio_high));
}

std::string answer_of(const KernelHistory& kernel, const SizeHistory& size, const Round& round) {
  if (size.finalists.empty()) return "No final round was run for this size.";
  const auto samples = std::ranges::max(size.finalists, {},
                                        [](const FinalistRecord& one) { return one.time.samples; });
  std::string text = fmt::format(
      "{} timed interleaved{}, {}. ",
      format_plural(size.finalists.size(), "contender", "contenders"),
      size.card.empty() ? "" : " on card " + size.card,
      format_plural(static_cast<std::uint64_t>(samples.time.samples), "repetition", "repetitions"));
  if (round.winner == nullptr) return text + "The record does not say which of them was chosen.";
  if (round.fastest == round.winner) return text + winner_is_fastest(round);
  const auto ties = static_cast<std::uint64_t>(size.best->ties);
  text += fmt::format("Chosen among {} that tie with the fastest, by this rule: {}. ",
                      format_count(ties + 1), rule_of(kernel, size, round));
  const FinalistRecord& fastest = *round.fastest;
  if (fastest.ratio_high >= 1) {
    return text + "The fastest cannot be told from it (95\u00a0%).";
  }
  return text + fmt::format("The fastest is {} ahead of it (95\u00a0%: {} to {}).",
                            lead(fastest.ratio_to_best), lead(fastest.ratio_high),
                            lead(fastest.ratio_low));
}

std::string_view standing(const FinalistRecord& finalist, const Round& round) {
  if (finalist.role == "library_tuned") return "library, tuned";
  if (finalist.role == "library") return "library";
  if (&finalist == round.winner) {
    if (round.winner != round.fastest) return "chosen";
    return round.is_behind ? "chosen, best of ours" : "chosen, fastest";
  }
  if (&finalist != round.fastest) return "";
  return round.is_behind ? "best of ours" : "fastest";
}

std::string label_of(const FinalistRecord& finalist, const SizeHistory& size) {
  return finalist.role.starts_with("library") && size.best ? size.best->library_name
                                                           : finalist.role;
}

/// The contenders that an imported line tells of. Times of a default or a library are medians
/// alone: 0 stands for the quartiles and the interval that are not known.
std::vector<FinalistRecord> finalists_of_line(const store::BestRecord& best,
                                              const std::string& default_config) {
  const auto contender = [&](const char* role, double ns, std::optional<double> ratio = {}) {
    FinalistRecord finalist{.role = role,
                            .config_json = "",
                            .time = {},
                            .ratio_low = 0,
                            .ratio_high = 0,
                            .samples_ns = {}};
    finalist.time = {.median_ns = ns, .q1_ns = 0, .q3_ns = 0, .min_ns = ns, .samples = 0};
    finalist.ratio_to_best = ratio.value_or(ns / best.time.median_ns);
    return finalist;
  };
  std::vector<FinalistRecord> finalists = {contender("candidate", best.time.median_ns, 1)};
  finalists.front().config_json = best.config_json;
  finalists.front().time = best.time;
  finalists.front().ratio_low = finalists.front().ratio_high = 1;
  finalists.front().sustained_ns = best.sustained_ns;
  if (best.default_ns) {
    finalists.push_back(contender("default", *best.default_ns));
    finalists.back().config_json = default_config;
  }
  if (best.library_ns) {
    FinalistRecord library = contender("library", *best.library_ns, best.ratio_to_library);
    library.ratio_low = best.ratio_to_library_low.value_or(0);
    library.ratio_high = best.ratio_to_library_high.value_or(0);
    finalists.push_back(std::move(library));
  }
  return finalists;
}

std::string answer_of_line(const store::BestRecord& best) {
  return fmt::format(
      "Imported{}: what its line tells of the final round, {} in which {} not shown to be "
      "over 1\u00a0% slower. Trials and further finalists are in the database that it was measured "
      "into.",
      best.origin.empty() ? "" : " from " + store::published_origin(best),
      best.time.samples > 0 ? format_plural(static_cast<std::uint64_t>(best.time.samples),
                                            "repetition,", "repetitions,")
                            : "",
      format_plural(static_cast<std::uint64_t>(best.ties), "other finalist was",
                    "other finalists were"));
}

/// What a contender's ratio to the winner is of. An imported line has the library's by the measure
/// that its best is ranked by, and of a default single launches alone.
std::string_view compared_by(const FinalistRecord& finalist, const Round& round,
                             const SizeHistory& size, bool is_imported) {
  if (is_imported && finalist.role.starts_with("library")) return ranking_measure(size);
  if (round.winner == nullptr) return kCold;
  const store::CommonMeasure measure(std::array{&finalist, round.winner});
  return measure.is_back_to_back() ? kBackToBack : kCold;
}

/// What the chart's one axis is of: what any other contender is compared with the winner by, back
/// to back before cold.
std::string_view chart_measure(std::span<const FinalistRecord> finalists,
                               std::span<const std::string_view> measures,
                               const FinalistRecord* winner) {
  for (std::size_t i = 0; i < finalists.size(); ++i) {
    if (&finalists[i] != winner && measures[i] == kBackToBack) return kBackToBack;
  }
  return kCold;
}

/// Empty for 0.
Json cell_if(double value) {
  return value > 0 ? Json(rounded(value)) : Json();
}

/// What a compiler allotted; 0 of a kernel without registers, on the host, says nothing.
template <class Value>
Json allotted(const ReportedTrial* trial, Value ReportedTrial::*member) {
  const bool is_known = trial != nullptr && (trial->registers > 0 || trial->*member > 0);
  return is_known ? Json(trial->*member) : Json();
}

}  // namespace

Json finalists_section(const KernelHistory& kernel, const SizeHistory& stored,
                       const std::string& default_config) {
  SizeHistory imported;
  const bool is_imported = stored.finalists.empty() && stored.best && !stored.best->verified;
  if (is_imported) {
    imported.problem = stored.problem;
    imported.best = stored.best;
    imported.finalists = finalists_of_line(*stored.best, default_config);
  }
  const SizeHistory& size = is_imported ? imported : stored;
  Json table = make_table({{"role", "Contender", "text"},
                           {"standing", "Standing", "text"},
                           {"sustained_ns", "Back to back", "time"},
                           {"ratio", "Over the chosen", "factor"},
                           {"ratio_low", "95\u00a0% from", "factor"},
                           {"ratio_high", "to", "factor"},
                           {"median_ns", "Cold median", "time"},
                           {"q1_ns", "Lower quartile", "time"},
                           {"q3_ns", "Upper quartile", "time"},
                           {"hot_ns", "Hot cache", "time"},
                           {"clock_mhz", "Clock (MHz)", "number"},
                           {"registers", "Registers", "count"},
                           {"shared_bytes", "Shared memory", "bytes"},
                           {"local_bytes", "Spilled", "bytes"},
                           {"config", "Configuration", "code"}});
  const Round round = round_of(size);
  const bool shows_rested = std::ranges::any_of(size.finalists, [](const FinalistRecord& finalist) {
    return store::regimes_differ(finalist.rested_ns, finalist.sustained_ns);
  });
  if (shows_rested) {
    table["columns"].push_back(
        {{"key", "rested_ns"}, {"label", "After a pause"}, {"kind", "time"}});
  }
  std::vector<std::string_view> measures;
  for (const FinalistRecord& finalist : size.finalists) {
    measures.push_back(compared_by(finalist, round, size, is_imported));
  }
  const std::string_view measure = chart_measure(size.finalists, measures, round.winner);
  if (round.winner != nullptr) {
    measures[static_cast<std::size_t>(round.winner - size.finalists.data())] = measure;
  }
  const bool differs = std::ranges::adjacent_find(measures, std::not_equal_to()) != measures.end();
  if (differs) {
    table["columns"].push_back({{"key", "measure"}, {"label", "Compared"}, {"kind", "text"}});
  }
  for (const FinalistRecord& finalist : size.finalists) {
    const ConfigValues values = config_values(kernel.parameters, finalist.config_json);
    const ReportedTrial* trial = trial_of(kernel, size, finalist);
    table["rows"].push_back(
        {label_of(finalist, size), standing(finalist, round), cell(finalist.sustained_ns),
         rounded(finalist.ratio_to_best), cell_if(finalist.ratio_low), cell_if(finalist.ratio_high),
         rounded(finalist.time.median_ns), cell_if(finalist.time.q1_ns),
         cell_if(finalist.time.q3_ns), cell(finalist.hot_ns), cell(finalist.clock_mhz),
         allotted(trial, &ReportedTrial::registers), allotted(trial, &ReportedTrial::shared_bytes),
         allotted(trial, &ReportedTrial::local_bytes), config_text(kernel.parameters, values)});
    if (shows_rested) table["rows"].back().push_back(cell(finalist.rested_ns));
    if (differs) table["rows"].back().push_back(measures[table["rows"].size() - 1]);
  }
  if (is_imported) drop_empty_columns(table);
  Json section = make_section(
      "finalists", "Finalists",
      is_imported ? answer_of_line(*size.best) : answer_of(kernel, size, round), std::move(table));
  section["measure"] = measure;
  section["ties"] = size.best ? size.best->ties : 0;
  return section;
}

}  // namespace tuner::report
