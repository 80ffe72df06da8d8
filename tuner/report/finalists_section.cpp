// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/metric.hpp"
#include "tuner/report/size_sections.hpp"
#include "tuner/report/table.hpp"
#include "tuner/store/best_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::report {
namespace {

using store::FinalistRecord;

/// The final round of a size: what it chose, and what was fastest in it.
struct Round {
  const FinalistRecord* winner = nullptr;
  const FinalistRecord* fastest = nullptr;  ///< of the configurations
  bool is_behind = false;                   ///< the library is certainly faster than the winner
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
    if (finalist.ratio_to_best < round.fastest->ratio_to_best) round.fastest = &finalist;
  }
  return round;
}

const ReportedTrial* trial_of(const KernelHistory& kernel, const SizeHistory& size,
                              const FinalistRecord& finalist) {
  const auto config = kernel.configs.find(finalist.config);
  if (!config) return nullptr;
  const auto found = std::ranges::find(size.evaluations, *config, &ReportedTrial::config);
  return found == size.evaluations.end() ? nullptr : &*found;
}

/// By which rule the winner was preferred to the fastest (session::FinalRound), with what each has
/// of that where it is a number; null where the winner is the fastest.
Json rule_of(const KernelHistory& kernel, const SizeHistory& size, const Round& round) {
  if (round.winner == round.fastest) return {};
  const auto& energy = round.winner->energy;
  const auto& other_energy = round.fastest->energy;
  if (energy && other_energy && energy->max_joules < other_energy->min_joules) {
    return {{"by", "energy"}, {"numbers", {energy->joules, other_energy->joules}}};
  }
  const std::string& role = round.winner->role;
  if (role == "incumbent" || role == "default") return {{"by", role}};
  const ReportedTrial* chosen = trial_of(kernel, size, *round.winner);
  const ReportedTrial* other = trial_of(kernel, size, *round.fastest);
  if (chosen == nullptr || other == nullptr) return {{"by", "resources"}};
  if (chosen->registers != other->registers) {
    return {{"by", "registers"}, {"numbers", {chosen->registers, other->registers}}};
  }
  if (chosen->shared_bytes != other->shared_bytes) {
    return {{"by", "shared_bytes"}, {"numbers", {chosen->shared_bytes, other->shared_bytes}}};
  }
  return {{"by", "order"}};
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

/// The most that any contender had.
int repetitions_of(const SizeHistory& size) {
  int most = 0;
  for (const FinalistRecord& finalist : size.finalists)
    most = std::max(most, finalist.time.samples);
  return most;
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
  Json section = make_section("finalists", std::move(table));
  section["imported_from"] = is_imported ? Json(store::published_origin(*size.best)) : Json();
  section["card"] = size.card;
  section["repetitions"] = repetitions_of(size);
  section["rule"] = rule_of(kernel, size, round);
  section["measure"] = measure;
  section["ties"] = size.best ? size.best->ties : 0;
  return section;
}

}  // namespace tuner::report
