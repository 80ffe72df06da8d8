// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/side_by_side_timer.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/session/trial_record.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {

store::FinalistRecord SideBySideTimes::finalist(std::string role, std::string config_json,
                                                std::size_t contender, std::size_t beside) const {
  const std::vector<double>& samples = cold.times_ns[contender];
  const measure::MedianInterval interval = measure::standing(samples, cold.times_ns[beside]);
  return {
      .role = std::move(role),
      .config_json = std::move(config_json),
      .time = *measure::summarise(samples),
      .ratio_to_best = interval.median,
      .ratio_low = interval.low,
      .ratio_high = interval.high,
      .samples_ns = samples,
      .hot_ns = hot_ns[contender],
      .clock_mhz = cold.clock_mhz[contender],
      .rested_ns = regimes[contender] ? std::optional(regimes[contender]->rested_ns) : std::nullopt,
      .sustained_ns =
          regimes[contender] ? std::optional(regimes[contender]->sustained_ns) : std::nullopt};
}

Expected<std::size_t, LostContender> SideBySideTimer::add_contenders(
    std::span<const space::Config> configs) {
  if (library_ == LibraryPart::with_algorithms) {
    const auto fastest = device_.fastest_library_algorithm(size_);
    if (!fastest) return Unexpected(LostContender{std::nullopt, fastest.error()});
    algorithm_ = *fastest;
  }
  device_.begin_side_by_side(size_);
  for (const space::Config& config : configs) {
    const worker::Compiled compiled =
        pool_.submit(family::compile_job(kernel_, space_, config)).get();
    if (!compiled.binary) return Unexpected(LostContender{config, compiled.binary.error()});
    const auto added = device_.add_contender(
        {.kernel = kernel_, .space = space_, .config = config, .binary = *compiled.binary});
    if (!added) return Unexpected(LostContender{config, added.error()});
  }
  const auto libraries = add_library();
  if (!libraries) return Unexpected(LostContender{std::nullopt, libraries.error()});
  return configs.size() + *libraries;
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

Expected<void, Failure> SideBySideTimer::time_regimes(SideBySideTimes& times, std::size_t configs,
                                                      std::size_t& timed) {
  constexpr double kNear = 1.05;
  const std::vector<std::vector<double>>& all = times.cold.times_ns;
  std::vector<double> medians_ns;
  for (const std::vector<double>& each : all) {
    medians_ns.push_back(measure::summarise(each)->median_ns);
  }
  const auto end_of_configs = medians_ns.begin() + static_cast<std::ptrdiff_t>(configs);
  const double fastest_ns = *std::min_element(medians_ns.begin(), end_of_configs);
  times.regimes.resize(all.size());
  bool differ = false;
  // The fastest and the library first: where power does not limit these, it limits none.
  for (const bool are_first : {true, false}) {
    for (timed = 0; timed < all.size(); ++timed) {
      const bool is_first = timed >= configs || medians_ns[timed] == fastest_ns;
      if (is_first != are_first || (timed < configs && medians_ns[timed] > kNear * fastest_ns)) {
        continue;
      }
      auto regimes = device_.time_contender_regimes(timed);
      if (!regimes) return Unexpected(regimes.error());
      times.regimes[timed] = *regimes;
      differ = differ ||
               (*regimes && store::regimes_differ((*regimes)->rested_ns, (*regimes)->sustained_ns));
    }
    if (!differ) return {};
  }
  return {};
}

Expected<std::optional<SideBySideTimes>, LostContender> SideBySideTimer::time(
    std::span<const space::Config> configs, const measure::RoundsPlan& plan,
    const std::function<bool()>& stop) {
  const auto count = add_contenders(configs);
  if (!count) return Unexpected(count.error());
  failpoint("session.contenders_added");
  std::size_t timed = 0;
  const auto lost = [&](const Failure& failure) {
    return Unexpected(LostContender{
        timed < configs.size() ? std::optional(configs[timed]) : std::nullopt, failure});
  };
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
  if (!cold) return lost(cold.error());
  if (std::cmp_less(cold->times_ns.front().size(), plan.fewest_rounds)) {
    return std::optional<SideBySideTimes>();
  }
  SideBySideTimes times{.cold = std::move(*cold), .hot_ns = {}};
  for (timed = 0; timed < *count; ++timed) {
    const auto hot = device_.time_contender_hot(timed);
    if (!hot) return lost(hot.error());
    times.hot_ns.push_back(*hot);
  }
  times.library_algorithm = algorithm_;
  if (auto regimes = time_regimes(times, configs.size(), timed); !regimes) {
    return lost(regimes.error());
  }
  return std::optional(std::move(times));
}

}  // namespace tuner::session
