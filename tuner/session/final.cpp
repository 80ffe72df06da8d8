// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final.hpp"

#include "tuner/measure/statistics.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tuner::session {
namespace {

/// The best of the search that take part: at most so many, and no more than one round has time for,
/// but a few however long they take.
constexpr std::size_t kMostFinalists = 8;
constexpr std::size_t kFewestFinalists = 3;
constexpr double kRoundNs = 200e6;

std::string role(const SizeSearch& search, const space::Config& config) {
  if (search.seeds().incumbent == config) return "incumbent";
  if (search.seeds().default_config == config) return "default";
  return "candidate";
}

/// Which of a tie is preferred: smaller is better.
auto preference(const SizeSearch& search, const space::Config& config) {
  const store::TrialRecord& trial = search.trial(config);
  return std::tuple(search.seeds().incumbent != config, trial.registers, trial.shared_bytes,
                    config);
}

/// The index of the winner among contenders with these samples: of those tied with the fastest the
/// preferred one.
std::size_t settle(const SizeSearch& search, const std::vector<space::Config>& configs,
                   const std::vector<std::vector<double>>& times_ns) {
  const std::vector<measure::Rank> ranks = measure::ranking(times_ns);
  std::size_t winner = ranks.front().contender;
  for (const measure::Rank& rank : ranks) {
    const auto better = preference(search, configs[rank.contender]);
    if (rank.tied && better < preference(search, configs[winner])) winner = rank.contender;
  }
  return winner;
}

}  // namespace

std::vector<space::Config> Final::contenders(const SizeSearch& search) {
  std::vector<space::Config> configs;
  const std::vector<Ranked> ranking = search.ranking();
  double round_ns = 0;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const space::Config& config = ranking[i].config;
    const bool seed = config == search.seeds().default_config || config == search.seeds().incumbent;
    round_ns += ranking[i].median_ns;
    const bool in_time = i < kFewestFinalists || round_ns <= kRoundNs;
    if ((i < kMostFinalists && in_time) || seed) configs.push_back(config);
  }
  return configs;
}

store::BestRecord Final::best_record(const SizeSearch& search, const space::Config& winner) const {
  store::BestRecord best;
  best.problem = space::canonical_size(search.size(), family_.problem.dims);
  best.config_json = space::canonical_json(search.space().definition(), winner);
  best.flops = family::flops_at(family_.problem, search.size());
  best.bytes = family::bytes_at(family_.problem, search.size());
  return best;
}

FinalOutcome Final::without_final(const SizeSearch& search) const {
  const space::Config winner = search.ranking().front().config;
  store::BestRecord best = best_record(search, winner);
  best.time = *search.trial(winner).time;
  return {.best = std::move(best), .winner = winner, .finalists = {}};
}

Expected<FinalOutcome, LostContender> Final::run(const SizeSearch& search,
                                                 const measure::FinalsPlan& plan,
                                                 const std::function<bool()>& stop,
                                                 LibraryPart library) {
  const std::vector<space::Config> configs = contenders(search);
  const auto times = LineUp(kernel_, search.space(), search.size(), pool_, device_, library)
                         .time(configs, plan, stop);
  if (!times) return Unexpected(times.error());
  return *times ? outcome(search, configs, **times) : without_final(search);
}

FinalOutcome Final::outcome(const SizeSearch& search, const std::vector<space::Config>& configs,
                            const LineUpTimes& times) const {
  const std::vector<std::vector<double>>& all = times.cold.times_ns;
  const std::vector<std::vector<double>> ours(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(configs.size()));
  const std::size_t winner = settle(search, configs, ours);
  FinalOutcome outcome{
      .best = best_record(search, configs[winner]), .winner = configs[winner], .finalists = {}};
  store::BestRecord& best = outcome.best;
  best.time = time_record(*measure::summarise(ours[winner]));
  for (const measure::Rank& rank : measure::ranking(ours))
    best.ties += rank.tied && rank.contender != winner ? 1 : 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool library = i == configs.size();
    store::FinalistRecord record = times.finalist(
        library ? "library" : role(search, configs[i]),
        library ? "" : space::canonical_json(search.space().definition(), configs[i]), i, winner);
    if (library) {
      best.library_name = device_.environment().library;
      best.library_ns = record.time.median_ns;
      best.ratio_to_library = record.ratio_to_best;
      best.ratio_to_library_low = record.ratio_low;
      best.ratio_to_library_high = record.ratio_high;
    } else if (configs[i] == search.seeds().default_config) {
      best.default_ns = record.time.median_ns;
      best.ratio_to_default = record.ratio_to_best;
    }
    outcome.finalists.push_back(std::move(record));
  }
  std::ranges::stable_sort(outcome.finalists, {},
                           [](const store::FinalistRecord& f) { return f.time.median_ns; });
  return outcome;
}

}  // namespace tuner::session
