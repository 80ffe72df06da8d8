// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/side_by_side_timer.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/session/trial_record.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <ranges>

namespace tuner::session {
namespace {

using Milliseconds = std::chrono::milliseconds;

/// Series that decide are of several processes, in each so many rounds in so much time, as the
/// ratio of two kernels differs between processes by more than rounds of one show (cpu backend, 4
/// µs: 2 %).
constexpr int kMostProcesses = 5, kFewestSeries = 1, kMostSeries = 6;
constexpr Milliseconds kSeriesBudget{100};
/// No further process is begun when so much time went into them, but one always is.
constexpr Milliseconds kReplacingBudget{1'000};
/// A contender so many times slower or faster than the fastest finalist is slower or faster in
/// every process.
constexpr double kFarFactor = 1.5;
/// Under load: rounds of all, as a single sample was once 1.2 times too long, then of those that
/// are left, in another process. Together they make an interval.
constexpr int kFirstLoadedSeries = 2, kMoreLoadedSeries = 4;

/// Exactly so many rounds.
measure::RoundsPlan loaded_plan(int rounds) {
  return {.rounds = rounds, .decisive_rounds = rounds, .fewest_rounds = rounds, .budget = {}};
}

/// Whether each contender but the first is far from it.
bool are_far_apart(const std::vector<std::vector<double>>& series_ns) {
  return std::ranges::all_of(series_ns | std::views::drop(1), [&](const auto& its) {
    const double ratio = measure::standing(its, series_ns.front()).median;
    return ratio > kFarFactor || ratio * kFarFactor < 1;
  });
}

}  // namespace

measure::MedianInterval SideBySideTimes::standing(std::size_t contender, std::size_t beside) const {
  const std::size_t rounds = std::min(series_ns[contender].size(), series_ns[beside].size());
  if (rounds == 0) return measure::standing(cold.times_ns[contender], cold.times_ns[beside]);
  return measure::standing(std::span(series_ns[contender]).first(rounds),
                           std::span(series_ns[beside]).first(rounds), series_blocks);
}

store::FinalistRecord SideBySideTimes::finalist(std::string role, std::string config_json,
                                                std::size_t contender, std::size_t beside) const {
  const std::vector<double>& samples = cold.times_ns[contender];
  const measure::MedianInterval interval = standing(contender, beside);
  const auto& its = regimes[contender];
  const std::optional<TimeSummary> series = measure::summarise(series_ns[contender]);
  return {.role = std::move(role),
          .config_json = std::move(config_json),
          .time = *measure::summarise(samples),
          .ratio_to_best = interval.median,
          .ratio_low = interval.low,
          .ratio_high = interval.high,
          .samples_ns = samples,
          .hot_ns = hot_ns[contender],
          .clock_mhz = cold.clock_mhz[contender],
          .rested_ns = its ? std::optional(its->rested_ns) : std::nullopt,
          .sustained_ns = series ? std::optional(series->median_ns)
                          : its  ? std::optional(its->sustained_ns)
                                 : std::nullopt};
}

SideBySideTimes::Deciding SideBySideTimes::deciding() const {
  std::size_t rounds = 0;
  for (std::size_t i = 0; i < configs; ++i) rounds = std::max(rounds, series_ns[i].size());
  Deciding result;
  if (rounds > 0) result.blocks = series_blocks;
  for (std::size_t i = 0; i < configs; ++i) {
    if (series_ns[i].size() != rounds) continue;
    result.contenders.push_back(i);
    result.times_ns.push_back(rounds == 0 ? cold.times_ns[i] : series_ns[i]);
  }
  return result;
}

std::vector<std::size_t> SideBySideTimes::fastest_first() const {
  std::vector<std::size_t> order(configs);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const bool in_series = !series_ns[i].empty();
    return std::pair(!in_series,
                     *measure::quantile(in_series ? series_ns[i] : cold.times_ns[i], 0.5));
  });
  return order;
}

Expected<void, Failure> SideBySideTimer::add_contender(const family::Kernel& kernel,
                                                       const space::BoundDefinition& space,
                                                       const space::Config& config) {
  const worker::Compiled compiled = pool_.submit(family::compile_job(kernel, space, config)).get();
  if (!compiled.binary) return Unexpected(compiled.binary.error());
  return device_.add_contender(
      {.kernel = kernel, .space = space, .config = config, .binary = *compiled.binary});
}

Expected<std::size_t, LostContender> SideBySideTimer::add_contenders() {
  if (library_ == LibraryPart::with_algorithms) {
    const auto fastest = device_.fastest_library_algorithm(size_);
    if (!fastest) return Unexpected(LostContender{std::nullopt, fastest.error()});
    algorithm_ = *fastest;
  }
  return load_contenders();
}

Expected<std::size_t, LostContender> SideBySideTimer::load_contenders() {
  device_.begin_side_by_side(size_);
  for (const space::Config& config : configs_) {
    const auto added = add_contender(kernel_, space_, config);
    if (!added) return Unexpected(LostContender{config, added.error()});
  }
  const auto libraries = add_library();
  if (!libraries) return Unexpected(LostContender{std::nullopt, libraries.error()});
  const std::size_t count = configs_.size() + *libraries;
  if (!companion_) return count;
  companion_place_ = count;
  const auto added = add_contender(companion_->kernel, companion_->space, companion_->config);
  if (!added) return Unexpected(lost(count, added.error()));
  return count + 1;
}

/// On a GPU it took 6 s (H200), where ratios of two processes differ by less than 1 %.
bool SideBySideTimer::is_moved_soon() const {
  return space::runs_on_host(device_.device().backend);
}

Expected<void, LostContender> SideBySideTimer::move_contenders() {
  device_.replace_process();
  if (auto loaded = load_contenders(); !loaded) return Unexpected(loaded.error());
  return {};
}

Expected<std::size_t, Failure> SideBySideTimer::add_library() {
  if (library_ == LibraryPart::excluded) return std::size_t{0};
  const auto by_default = device_.add_library({});
  if (!by_default) return Unexpected(by_default.error());
  if (!*by_default || algorithm_.empty()) return std::size_t{*by_default ? 1U : 0U};
  const auto tuned = device_.add_library(algorithm_);
  if (!tuned) return Unexpected(tuned.error());
  return std::size_t{2};
}

LostContender SideBySideTimer::lost(std::size_t contender, const Failure& failure) const {
  return {.config = contender < configs_.size() ? std::optional(configs_[contender]) : std::nullopt,
          .failure = failure,
          .is_companion = contender == companion_place_};
}

Expected<std::optional<SideBySideTimes>, LostContender> SideBySideTimer::time(
    std::span<const space::Config> configs, const measure::RoundsPlan& plan,
    const std::function<bool()>& stop) {
  configs_.assign(configs.begin(), configs.end());
  const auto count = add_contenders();
  if (!count) return Unexpected(count.error());
  failpoint("session.contenders_added");
  std::size_t timed = 0;
  const measure::Round round =
      [&](std::span<const std::size_t> order) -> Expected<std::vector<backend::Sample>, Failure> {
    std::vector<backend::Sample> samples;
    for (const std::size_t contender : order) {
      timed = contender;
      const auto sample = device_.time_contender(contender);
      if (!sample) return Unexpected(sample.error());
      samples.push_back(*sample);
    }
    failpoint("session.round");
    return samples;
  };
  measure::RoundsPlan among_configs = plan;
  among_configs.ranked = configs.size();
  auto cold = measure::time_rounds(*count, round, among_configs, stop);
  if (!cold) return Unexpected(lost(timed, cold.error()));
  if (std::cmp_less(cold->times_ns.front().size(), plan.fewest_rounds)) {
    return std::optional<SideBySideTimes>();
  }
  SideBySideTimes times{.configs = configs.size(), .cold = std::move(*cold), .hot_ns = {}};
  for (std::size_t i = 0; i < *count; ++i) {
    const auto hot = device_.time_contender_hot(i);
    if (!hot) return Unexpected(lost(i, hot.error()));
    times.hot_ns.push_back(*hot);
  }
  times.regimes.resize(*count);
  times.series_ns.resize(*count);
  times.library_algorithm = algorithm_;
  times.companion = companion_place_;
  return std::optional(std::move(times));
}

Expected<void, LostContender> SideBySideTimer::add_regimes(SideBySideTimes& times,
                                                           std::size_t contender) {
  if (times.regimes[contender]) return {};
  auto regimes = device_.time_contender_regimes(contender);
  if (!regimes) return Unexpected(lost(contender, regimes.error()));
  times.regimes[contender] = *regimes;
  return {};
}

std::vector<std::size_t> SideBySideTimer::near_the_fastest(const SideBySideTimes& times,
                                                           double factor) {
  const auto& all = times.cold.times_ns;
  std::vector<std::size_t> found;
  for (const measure::Rank& rank :
       measure::ranking({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(times.configs)})) {
    if (rank.ratio.low <= factor) found.push_back(rank.contender);
  }
  for (std::size_t i = times.configs; i < all.size(); ++i) found.push_back(i);
  return found;
}

Expected<std::vector<std::vector<double>>, LostContender> SideBySideTimer::series_of(
    std::span<const std::size_t> contenders, backend::Lead lead, const measure::RoundsPlan& plan,
    const std::function<bool()>& stop) {
  std::size_t timed = 0;
  const measure::Round round =
      [&](std::span<const std::size_t> order) -> Expected<std::vector<backend::Sample>, Failure> {
    std::vector<backend::Sample> samples;
    for (const std::size_t i : order) {
      timed = contenders[i];
      const auto time_ns = device_.time_contender_series(timed, lead);
      if (!time_ns) return Unexpected(time_ns.error());
      samples.push_back({.time_ns = time_ns->value()});
    }
    return samples;
  };
  auto times = measure::time_rounds(contenders.size(), round, plan, stop);
  if (!times) return Unexpected(lost(timed, times.error()));
  return std::move(times->times_ns);
}

Expected<void, LostContender> SideBySideTimer::add_series(SideBySideTimes& times,
                                                          std::optional<std::size_t> incumbent,
                                                          const std::function<bool()>& stop) {
  // What won in series was up to 14 % slower alone, under load up to 5 % (H100, bf16).
  constexpr double kNear = 1.25, kNearUnderLoad = 1.05;
  const std::size_t fastest = times.fastest_first().front();
  if (auto added = add_regimes(times, fastest); !added) return added;
  const auto& regimes = times.regimes[fastest];
  if (!regimes) return {};
  const bool is_limited = regimes->sustained_ns > regimes->rested_ns &&
                          store::regimes_differ(regimes->rested_ns, regimes->sustained_ns);
  const std::vector<std::size_t> near =
      near_the_fastest(times, is_limited ? kNearUnderLoad : kNear);
  if (near.size() < 2) return {};
  return is_limited ? add_series_under_load(times, near, incumbent, stop)
                    : add_series_in_processes(times, near, stop);
}

Expected<void, LostContender> SideBySideTimer::add_series_in_processes(
    SideBySideTimes& times, std::span<const std::size_t> near, const std::function<bool()>& stop) {
  std::vector<std::vector<double>> all(near.size());
  measure::Blocks blocks;
  std::chrono::steady_clock::duration replacing{};
  for (int process = 0; process < kMostProcesses; ++process) {
    if (process > 0 && replacing < kReplacingBudget && is_moved_soon()) {
      const auto begin = std::chrono::steady_clock::now();
      if (auto moved = move_contenders(); !moved) return moved;
      replacing += std::chrono::steady_clock::now() - begin;
    }
    const auto series = series_of(near, backend::Lead::none,
                                  {.rounds = kMostSeries,
                                   .decisive_rounds = kMostSeries,
                                   .fewest_rounds = kFewestSeries,
                                   .budget = kSeriesBudget,
                                   .seed = static_cast<std::uint64_t>(process)},
                                  stop);
    if (!series) return Unexpected(series.error());
    if (std::cmp_less(series->front().size(), kFewestSeries)) return {};
    blocks.push_back(static_cast<int>(series->front().size()));
    for (std::size_t i = 0; i < near.size(); ++i) {
      all[i].insert(all[i].end(), (*series)[i].begin(), (*series)[i].end());
    }
    if (is_moved_soon() && are_far_apart(all)) break;
  }
  for (std::size_t i = 0; i < near.size(); ++i) times.series_ns[near[i]] = std::move(all[i]);
  if (is_moved_soon()) times.series_blocks = std::move(blocks);
  return {};
}

Expected<void, LostContender> SideBySideTimer::add_series_under_load(
    SideBySideTimes& times, std::span<const std::size_t> near, std::optional<std::size_t> incumbent,
    const std::function<bool()>& stop) {
  constexpr double kWorthMoreRounds = 1.03;
  const auto first = series_of(near, backend::Lead::load, loaded_plan(kFirstLoadedSeries), stop);
  if (!first) return Unexpected(first.error());
  if (std::cmp_less(first->front().size(), kFirstLoadedSeries)) return {};
  std::vector<double> least_ns;  // of each in `near`
  for (const std::vector<double>& its : *first) least_ns.push_back(std::ranges::min(its));
  double fastest_ns = least_ns.front();
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (near[i] < times.configs) fastest_ns = std::min(fastest_ns, least_ns[i]);
  }
  std::vector<std::size_t> worth;
  for (std::size_t i = 0; i < near.size(); ++i) {
    const bool stays = near[i] >= times.configs || near[i] == incumbent;
    if (stays || least_ns[i] <= kWorthMoreRounds * fastest_ns) worth.push_back(near[i]);
  }
  if (is_moved_soon()) {
    if (auto moved = move_contenders(); !moved) return moved;
  }
  const auto more = series_of(worth, backend::Lead::load, loaded_plan(kMoreLoadedSeries), stop);
  if (!more) return Unexpected(more.error());
  if (std::cmp_less(more->front().size(), kMoreLoadedSeries)) return {};
  for (std::size_t i = 0; i < near.size(); ++i) times.series_ns[near[i]] = std::move((*first)[i]);
  for (std::size_t i = 0; i < worth.size(); ++i) {
    std::vector<double>& its = times.series_ns[worth[i]];
    its.insert(its.end(), (*more)[i].begin(), (*more)[i].end());
  }
  if (is_moved_soon()) times.series_blocks = {kFirstLoadedSeries, kMoreLoadedSeries};
  return {};
}

}  // namespace tuner::session
