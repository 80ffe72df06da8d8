// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/library_gauge.hpp"

#include "tuner/session/side_by_side_timer.hpp"

#include <chrono>
#include <span>
#include <vector>

namespace tuner::session {

std::optional<double> LibraryGauge::time(const SizeSearch& search) {
  using namespace std::chrono_literals;
  constexpr measure::RoundsPlan kFew{
      .rounds = 7, .decisive_rounds = 8, .fewest_rounds = 1, .budget = 100ms};
  const std::vector<Ranked> ranking = search.ranking();
  if (family::library_arguments(family_.check) == nullptr || ranking.empty()) return std::nullopt;
  if (!timed_.insert(&search).second) return std::nullopt;
  const Ranked& best = ranking.front();
  const auto times =
      SideBySideTimer(kernel_, search.space(), search.size(), pool_, device_, LibraryPart::included)
          .time(std::span(&best.config, 1), kFew, interrupted_);
  if (!times || !*times || (*times)->cold.times_ns.size() < 2) return std::nullopt;
  return measure::standing((*times)->cold.times_ns[1], (*times)->cold.times_ns[0]).median *
         best.ranked_ns;
}

}  // namespace tuner::session
