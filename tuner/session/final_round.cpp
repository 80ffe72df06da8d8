// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final_round.hpp"

#include "tuner/measure/statistics.hpp"
#include "tuner/session/trial_record.hpp"

#include <algorithm>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

namespace tuner::session {
namespace {

/// The best of the search that take part are no more than fit the time of one round, but always a
/// few.
constexpr double kRoundNs = 200e6;
/// What a contender may be slower than the fastest to win because it is the default or smaller. The
/// incumbent may be as much slower as makes a tie.
constexpr double kSmallLoss = 1.005;

std::string role(const SizeSearch& search, const space::Config& config) {
  if (search.required_finalists().incumbent == config) return "incumbent";
  if (search.required_finalists().default_config == config) return "default";
  return "candidate";
}

/// Of a contender: behind the finalists come the library and its fastest algorithm.
std::string role_at(const SizeSearch& search, std::span<const space::Config> finalists,
                    std::size_t contender) {
  if (contender < finalists.size()) return role(search, finalists[contender]);
  return contender == finalists.size() ? "library" : "library_tuned";
}

/// Which of a tie is preferred: smaller is better. On a noisy device, or after few rounds, times
/// that are far apart tie too; no preference is worth more than a small loss.
auto preference(const SizeSearch& search, const space::Config& config, const measure::Rank& rank) {
  const store::TrialRecord& trial = search.trial(config);
  const bool stays =
      search.required_finalists().incumbent == config && rank.ratio.median <= measure::kTieFactor;
  return std::tuple(!stays, rank.ratio.median > kSmallLoss,
                    search.required_finalists().default_config != config, trial.registers,
                    trial.shared_bytes, config);
}

/// By contender; empty where none was measured.
using Energies = std::vector<std::optional<EnergySummary>>;

/// Of contenders that tie with the fastest the one that takes the least energy, unless some window
/// of it took more than some window of the preferred one: then that.
std::size_t frugal_one(const std::vector<measure::Rank>& ranks, const Energies& energies,
                       std::size_t preferred) {
  if (energies.empty() || !energies[preferred]) return preferred;
  std::size_t winner = preferred;
  for (const measure::Rank& rank : ranks) {
    const auto& energy = energies[rank.contender];
    if (!rank.tied || rank.ratio.median > measure::kTieFactor || !energy) continue;
    const bool is_less = energy->max_joules < energies[preferred]->min_joules;
    if (is_less && energy->joules < energies[winner]->joules) winner = rank.contender;
  }
  return winner;
}

/// The configurations by the times that decide, fastest first.
std::vector<measure::Rank> deciding_ranks(const SideBySideTimes& times) {
  const SideBySideTimes::Deciding deciding = times.deciding();
  std::vector<measure::Rank> ranks = measure::ranking(deciding.times_ns, deciding.blocks);
  for (measure::Rank& rank : ranks) rank.contender = deciding.contenders[rank.contender];
  return ranks;
}

/// Of those that tie with the fastest the one that takes the least energy, else the preferred one.
std::size_t winner_of(const SizeSearch& search, const std::vector<space::Config>& configs,
                      const std::vector<measure::Rank>& ranks, const Energies& energies) {
  const auto preference_of = [&](const measure::Rank& rank) {
    return preference(search, configs[rank.contender], rank);
  };
  auto tied = ranks | std::views::filter(&measure::Rank::tied);
  const std::size_t preferred = std::ranges::min_element(tied, {}, preference_of)->contender;
  return frugal_one(ranks, energies, preferred);
}

}  // namespace

std::vector<space::Config> FinalRound::finalists(const SizeSearch& search, std::size_t most) {
  std::vector<space::Config> configs;
  const std::vector<Ranked> ranking = search.ranking();
  double round_ns = 0;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const space::Config& config = ranking[i].config;
    const bool required = config == search.required_finalists().default_config ||
                          config == search.required_finalists().incumbent;
    round_ns += ranking[i].median_ns;
    const bool in_time = i < kFewestFinalists || round_ns <= kRoundNs;
    if ((i < most && in_time) || required) configs.push_back(config);
  }
  return configs;
}

store::BestRecord FinalRound::best_record(const SizeSearch& search,
                                          const space::Config& winner) const {
  store::BestRecord best;
  best.problem = space::canonical_size(search.size(), family_.problem.dims);
  best.config_json = space::canonical_json(search.space().definition(), winner);
  best.flops = family::flops_at(family_.problem, search.size());
  best.bytes = family::bytes_at(family_.problem, search.size());
  return best;
}

std::optional<FinalResult> FinalRound::by_screening(const SizeSearch& search) const {
  const std::vector<Ranked> ranking = search.ranking();
  if (ranking.empty()) return std::nullopt;
  const space::Config& winner = ranking.front().config;
  store::BestRecord best = best_record(search, winner);
  best.time = *search.trial(winner).time;
  best.sustained_ns = search.trial(winner).series_ns;
  return FinalResult{.best = std::move(best), .winner = winner, .finalists = {}};
}

Expected<FinalResult, LostContender> FinalRound::attempt(const SizeSearch& search,
                                                         const FinalPlan& plan,
                                                         LibraryPart library) {
  const std::vector<space::Config> configs = finalists(search, plan.most_finalists);
  int rounds = 0;
  const auto between_rounds = [&] {
    observer_.tell(
        RoundDone{.size = search.size(), .rounds = rounds++, .most = plan.rounds.rounds});
    return interrupted_();
  };
  SideBySideTimer timer(kernel_, search.space(), search.size(), pool_, device_, library);
  auto timed = timer.time(configs, plan.rounds, between_rounds);
  if (!timed) return Unexpected(timed.error());
  if (!*timed) return *by_screening(search);
  SideBySideTimes& times = **timed;
  std::optional<std::size_t> incumbent;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    if (search.required_finalists().incumbent == configs[i]) incumbent = i;
  }
  if (auto added = timer.add_series(times, incumbent, interrupted_); !added) {
    return Unexpected(added.error());
  }
  double energy_s = 0;
  const auto energies = measure_energy(
      times, device_, plan.energy,
      [&](std::size_t contenders, double seconds) {
        energy_s = seconds;
        observer_.tell(
            EnergyBegan{.size = search.size(), .contenders = contenders, .seconds = seconds});
      },
      interrupted_);
  if (!energies) {
    const auto& [contender, failure] = energies.error();
    return Unexpected(LostContender{
        contender < configs.size() ? std::optional(configs[contender]) : std::nullopt, failure});
  }
  const std::vector<measure::Rank> ranks = deciding_ranks(times);
  const std::size_t winner = winner_of(search, configs, ranks, *energies);
  if (auto added = timer.add_regimes(times, winner); !added) return Unexpected(added.error());
  FinalResult confirmed = result(search, configs, times, *energies, winner);
  for (const measure::Rank& rank : ranks)
    confirmed.best.ties += rank.tied && rank.contender != winner ? 1 : 0;
  confirmed.energy_s = energy_s;
  confirmed.left_out = finalists(search).size() - configs.size();
  return confirmed;
}

FinalResult FinalRound::result(const SizeSearch& search, const std::vector<space::Config>& configs,
                               const SideBySideTimes& times, const Energies& energies,
                               std::size_t winner) const {
  const std::vector<std::vector<double>>& all = times.cold.times_ns;
  FinalResult result{
      .best = best_record(search, configs[winner]), .winner = configs[winner], .finalists = {}};
  store::BestRecord& best = result.best;
  best.time = *measure::summarise(all[winner]);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool library = i >= configs.size(), tuned = i > configs.size();
    store::FinalistRecord record = times.finalist(
        role_at(search, configs, i),
        library ? "" : space::canonical_json(search.space().definition(), configs[i]), i, winner);
    if (!energies.empty()) record.energy = energies[i];
    if (i == winner) {
      if (record.energy) best.joules = record.energy->joules;
      best.clock_mhz = record.clock_mhz;
      best.rested_ns = record.rested_ns;
      best.sustained_ns = record.sustained_ns;
    }
    if (tuned) {
      // Only what is shown to be faster is worth a choice that holds for one version.
      if (times.standing(i, configs.size()).high < 1) {
        best.library_algorithm = times.library_algorithm;
        best.ratio_to_library_tuned = record.ratio_to_best;
      }
    } else if (library) {
      best.library_name = device_.environment().library;
      best.library_ns = record.time.median_ns;
      best.ratio_to_library = record.ratio_to_best;
      best.ratio_to_library_low = record.ratio_low;
      best.ratio_to_library_high = record.ratio_high;
    } else if (configs[i] == search.required_finalists().default_config) {
      best.default_ns = record.time.median_ns;
      best.ratio_to_default = record.ratio_to_best;
    }
    result.finalists.push_back(std::move(record));
  }
  std::ranges::stable_sort(result.finalists, {},
                           [](const store::FinalistRecord& f) { return f.time.median_ns; });
  return result;
}

std::optional<FinalResult> FinalRound::run(SizeSearch& search, const FinalPlan& plan,
                                           const Failed& failed) {
  // One failure may have a cause outside, such as a process that was killed, or in one of its
  // algorithms.
  constexpr int kMostLibraryFailures = 2;
  const bool has_library = family::library_arguments(family_.check) != nullptr;
  int library_failures = 0;
  std::string library_problem;
  while (!search.ranking().empty()) {
    if (interrupted_()) return by_screening(search);
    const LibraryPart library = !has_library || library_failures == kMostLibraryFailures
                                    ? LibraryPart::excluded
                                : library_failures == 0 ? LibraryPart::with_algorithms
                                                        : LibraryPart::included;
    observer_.tell(FinalBegan{.size = search.size(),
                              .contenders = finalists(search, plan.most_finalists).size(),
                              .library = library});
    auto attempted = attempt(search, plan, library);
    if (attempted) {
      if (library_failures == kMostLibraryFailures) attempted->library_problem = library_problem;
      return std::move(*attempted);
    }
    const LostContender& lost = attempted.error();
    if (lost.config) {
      failed(search, runner_.record_failure(search, *lost.config, lost.failure));
    } else {
      ++library_failures;
      library_problem = lost.failure.message;
    }
  }
  return std::nullopt;
}

}  // namespace tuner::session
