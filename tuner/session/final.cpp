// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/measure/statistics.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kFinalists = 8;

std::string role(const SizeSearch& search, const Config& config) {
  if (search.seeds().incumbent == config) return "incumbent";
  if (search.seeds().default_config == config) return "default";
  return "candidate";
}

/// Which of a tie is preferred: smaller is better.
auto preference(const SizeSearch& search, const Config& config) {
  const TrialRecord& trial = search.trial(config);
  return std::tuple(search.seeds().incumbent != config, trial.registers, trial.shared_bytes,
                    config);
}

/// The index of the winner among contenders with these samples: of those tied with the fastest the
/// preferred one.
std::size_t settle(const SizeSearch& search, const std::vector<Config>& configs,
                   const std::vector<std::vector<double>>& times_ns) {
  const std::vector<Rank> ranks = ranking(times_ns);
  std::size_t winner = ranks.front().contender;
  for (const Rank& rank : ranks) {
    const auto better = preference(search, configs[rank.contender]);
    if (rank.tied && better < preference(search, configs[winner])) winner = rank.contender;
  }
  return winner;
}

FinalistRecord finalist(std::string role, std::string config_json,
                        const std::vector<double>& samples, const std::vector<double>& winner) {
  const MedianInterval interval = standing(samples, winner);
  return {.role = std::move(role),
          .config_json = std::move(config_json),
          .time = time_record(*summarise(samples)),
          .ratio_to_best = interval.median,
          .ratio_low = interval.low,
          .ratio_high = interval.high,
          .samples_ns = samples};
}

}  // namespace

std::vector<Config> Final::contenders(const SizeSearch& search) {
  std::vector<Config> configs;
  const std::vector<Ranked> ranking = search.ranking();
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    const Config& config = ranking[i].config;
    const bool seed = config == search.seeds().default_config || config == search.seeds().incumbent;
    if (i < kFinalists || seed) configs.push_back(config);
  }
  return configs;
}

BestRecord Final::best_record(const SizeSearch& search, const Config& winner) const {
  BestRecord best;
  best.problem = fmt::format("{}", fmt::join(search.size(), ","));
  best.config_json = canonical_json(search.space().definition(), winner);
  best.flops = flops_at(family_.problem, search.size());
  best.bytes = bytes_at(family_.problem, search.size());
  return best;
}

FinalOutcome Final::without_final(const SizeSearch& search) const {
  const Config winner = search.ranking().front().config;
  BestRecord best = best_record(search, winner);
  best.time = *search.trial(winner).time;
  return {.best = std::move(best), .winner = winner, .finalists = {}};
}

Expected<bool, LostContender> Final::line_up(const SizeSearch& search,
                                             const std::vector<Config>& configs) {
  device_.begin_lineup(search.size());
  for (const Config& config : configs) {
    const Compiled compiled = pool_.submit(compile_job(kernel_, search.space(), config)).get();
    if (!compiled.binary) return Unexpected(LostContender{config, compiled.binary.error()});
    const auto added = device_.add_contender(
        {.kernel = kernel_, .space = search.space(), .config = config, .binary = *compiled.binary});
    if (!added) return Unexpected(LostContender{config, added.error()});
  }
  const auto has_library = device_.add_library();
  if (!has_library) return Unexpected(LostContender{std::nullopt, has_library.error()});
  return *has_library;
}

Expected<FinalOutcome, LostContender> Final::run(const SizeSearch& search, const FinalsPlan& plan,
                                                 const std::function<bool()>& stop) {
  const std::vector<Config> configs = contenders(search);
  const auto has_library = line_up(search, configs);
  if (!has_library) return Unexpected(has_library.error());
  failpoint("session.final_lined_up");
  const std::size_t count = configs.size() + (*has_library ? 1 : 0);
  std::size_t timed = 0;
  const auto lost = [&](const Failure& failure) {
    return Unexpected(LostContender{
        timed < configs.size() ? std::optional(configs[timed]) : std::nullopt, failure});
  };
  const Round round =
      [&](std::span<const std::size_t> order) -> Expected<std::vector<Sample>, Failure> {
    std::vector<Sample> samples;
    for (const std::size_t contender : order) {
      timed = contender;
      const auto sample = device_.time_contender(contender);
      if (!sample) return Unexpected(sample.error());
      samples.push_back(*sample);
    }
    failpoint("session.final_round");
    return samples;
  };
  const auto times = run_finals(count, round, plan, stop);
  if (!times) return lost(times.error());
  if (std::cmp_less(times->times_ns.front().size(), plan.fewest_rounds)) {
    return without_final(search);
  }
  std::vector<double> hot_ns;
  for (timed = 0; timed < count; ++timed) {
    const auto hot = device_.time_contender_hot(timed);
    if (!hot) return lost(hot.error());
    hot_ns.push_back(*hot);
  }
  return outcome(search, configs, *times, hot_ns);
}

FinalOutcome Final::outcome(const SizeSearch& search, const std::vector<Config>& configs,
                            const FinalTimes& times, const std::vector<double>& hot_ns) const {
  const std::vector<std::vector<double>> ours(
      times.times_ns.begin(), times.times_ns.begin() + static_cast<std::ptrdiff_t>(configs.size()));
  const std::size_t winner = settle(search, configs, ours);
  FinalOutcome outcome{
      .best = best_record(search, configs[winner]), .winner = configs[winner], .finalists = {}};
  BestRecord& best = outcome.best;
  best.time = time_record(*summarise(ours[winner]));
  for (const Rank& rank : ranking(ours)) best.ties += rank.tied && rank.contender != winner ? 1 : 0;
  for (std::size_t i = 0; i < times.times_ns.size(); ++i) {
    const bool library = i == configs.size();
    FinalistRecord record =
        finalist(library ? "library" : role(search, configs[i]),
                 library ? "" : canonical_json(search.space().definition(), configs[i]),
                 times.times_ns[i], ours[winner]);
    record.hot_ns = hot_ns[i];
    record.clock_mhz = times.clock_mhz[i];
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
                           [](const FinalistRecord& f) { return f.time.median_ns; });
  return outcome;
}

}  // namespace tuner
