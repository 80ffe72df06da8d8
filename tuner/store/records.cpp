// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/records.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace tuner::store {

bool is_worth_another_try(Outcome outcome) {
  return outcome == Outcome::unstable || outcome == Outcome::quarantined;
}

std::vector<StoredTrial> standing_trials(std::vector<StoredTrial> trials) {
  std::map<std::pair<std::string, std::string>, std::int64_t> latest;
  for (const StoredTrial& stored : trials) {
    latest[{stored.trial.problem, stored.trial.config_json}] = stored.id;
  }
  std::erase_if(trials, [&](const StoredTrial& stored) {
    return latest.at({stored.trial.problem, stored.trial.config_json}) != stored.id;
  });
  return trials;
}

std::string_view name(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::complete:
      return "complete";
    case RunState::budget_spent:
      return "budget_spent";
    case RunState::interrupted:
      return "interrupted";
    case RunState::imported:
      return "imported";
  }
  return "unknown";
}

std::string state_text(const RunRecord& run) {
  return std::string(name(run.state)) + (run.merged ? ", merged" : "");
}

std::map<std::string, CardRecord> last_cards(const std::vector<CardRecord>& cards) {
  std::map<std::string, CardRecord> last;
  for (const CardRecord& card : cards) last.insert_or_assign(card.problem, card);
  return last;
}

bool regimes_differ(const std::optional<double>& rested_ns,
                    const std::optional<double>& sustained_ns) {
  constexpr double kTold = 0.01;
  return rested_ns && sustained_ns && std::abs(*sustained_ns / *rested_ns - 1) > kTold;
}

bool is_back_to_back(const BestRecord& best) {
  return best.sustained_ns.has_value();
}

double ranking_ns(const BestRecord& best) {
  return CommonMeasure(std::array{&best}).ns(best);
}

namespace {

/// `ratio` is of ranking times: of single launches only where nothing was timed in series.
std::optional<double> cold_ratio(const BestRecord& best, std::optional<double> other_ns,
                                 std::optional<double> ratio) {
  if (other_ns && best.time.median_ns > 0) return *other_ns / best.time.median_ns;
  return is_back_to_back(best) ? std::nullopt : ratio;
}

}  // namespace

std::optional<double> cold_gain(const BestRecord& best) {
  return cold_ratio(best, best.default_ns, best.ratio_to_default);
}

std::optional<double> cold_ratio_to_library(const BestRecord& best) {
  return cold_ratio(best, best.library_ns, best.ratio_to_library);
}

double ranked_ns(double ns, bool verified) {
  // Two H200 timed the same 53 configurations: the ratios were 0.91 to 1.08
  // (benchmarks/results/tensor-types-h200-2026-11-27.txt).
  constexpr double kImported = 1.1;
  return verified ? ns : kImported * ns;
}

std::vector<std::size_t> fastest_first(std::span<const BestRecord* const> bests) {
  const CommonMeasure measure(bests);
  std::vector<std::size_t> places(bests.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, [&](std::size_t place) {
    return ranked_ns(measure.ns(*bests[place]), bests[place]->verified);
  });
  return places;
}

}  // namespace tuner::store
