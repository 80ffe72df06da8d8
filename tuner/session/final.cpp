// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/final.hpp"

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
constexpr double kTie = 1.01;

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

/// The index of the winner among contenders with these samples.
std::size_t settle(const SizeSearch& search, const std::vector<Config>& configs,
                   const std::vector<std::vector<double>>& samples) {
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < configs.size(); ++i) {
    if (*quantile(samples[i], 0.5) < *quantile(samples[fastest], 0.5)) fastest = i;
  }
  std::size_t winner = fastest;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const bool tie = standing(samples[i], samples[fastest]).median <= kTie;
    if (tie && preference(search, configs[i]) < preference(search, configs[winner])) winner = i;
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
  return device_.add_library();
}

Expected<FinalOutcome, LostContender> Final::run(const SizeSearch& search, const FinalsPlan& plan,
                                                 const std::function<bool()>& stop) {
  const std::vector<Config> configs = contenders(search);
  const auto has_library = line_up(search, configs);
  if (!has_library) return Unexpected(has_library.error());
  std::size_t timed = 0;
  const auto time = [&](std::size_t contender) {
    timed = contender;
    return device_.time_contender(contender);
  };
  const std::size_t count = configs.size() + (*has_library ? 1 : 0);
  const auto all_samples = run_finals(count, time, plan, stop);
  if (!all_samples) {
    const auto lost = timed < configs.size() ? std::optional(configs[timed]) : std::nullopt;
    return Unexpected(LostContender{lost, all_samples.error()});
  }
  if (std::cmp_less(all_samples->front().size(), plan.fewest_rounds)) return without_final(search);
  const std::vector<std::vector<double>> samples(
      all_samples->begin(), all_samples->begin() + static_cast<std::ptrdiff_t>(configs.size()));

  const std::size_t winner = settle(search, configs, samples);
  FinalOutcome outcome{
      .best = best_record(search, configs[winner]), .winner = configs[winner], .finalists = {}};
  BestRecord& best = outcome.best;
  best.time = time_record(*summarise(samples[winner]));
  for (std::size_t i = 0; i < configs.size(); ++i) {
    outcome.finalists.push_back(finalist(role(search, configs[i]),
                                         canonical_json(search.space().definition(), configs[i]),
                                         samples[i], samples[winner]));
    const FinalistRecord& record = outcome.finalists.back();
    if (i != winner && record.ratio_to_best <= kTie) ++best.ties;
    if (configs[i] == search.seeds().default_config) {
      best.default_ns = record.time.median_ns;
      best.ratio_to_default = record.ratio_to_best;
    }
  }
  if (*has_library) {
    outcome.finalists.push_back(finalist("library", "", all_samples->back(), samples[winner]));
    const FinalistRecord& library = outcome.finalists.back();
    best.library_name = device_.environment().library;
    best.library_ns = library.time.median_ns;
    best.ratio_to_library = library.ratio_to_best;
    best.ratio_to_library_low = library.ratio_low;
    best.ratio_to_library_high = library.ratio_high;
  }
  std::ranges::stable_sort(outcome.finalists, {},
                           [](const FinalistRecord& f) { return f.time.median_ns; });
  return outcome;
}

}  // namespace tuner
