// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/side_by_side_timer.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/session/trial_record.hpp"

#include <utility>

namespace tuner::session {

store::FinalistRecord SideBySideTimes::finalist(std::string role, std::string config_json,
                                                std::size_t contender, std::size_t beside) const {
  const std::vector<double>& samples = cold.times_ns[contender];
  const measure::MedianInterval interval = measure::standing(samples, cold.times_ns[beside]);
  return {.role = std::move(role),
          .config_json = std::move(config_json),
          .time = time_record(*measure::summarise(samples)),
          .ratio_to_best = interval.median,
          .ratio_low = interval.low,
          .ratio_high = interval.high,
          .samples_ns = samples,
          .hot_ns = hot_ns[contender],
          .clock_mhz = cold.clock_mhz[contender]};
}

Expected<std::size_t, LostContender> SideBySideTimer::add_contenders(
    std::span<const space::Config> configs) {
  device_.begin_side_by_side(size_);
  for (const space::Config& config : configs) {
    const worker::Compiled compiled =
        pool_.submit(family::compile_job(kernel_, space_, config)).get();
    if (!compiled.binary) return Unexpected(LostContender{config, compiled.binary.error()});
    const auto added = device_.add_contender(
        {.kernel = kernel_, .space = space_, .config = config, .binary = *compiled.binary});
    if (!added) return Unexpected(LostContender{config, added.error()});
  }
  if (library_ == LibraryPart::excluded) return configs.size();
  const auto has_library = device_.add_library();
  if (!has_library) return Unexpected(LostContender{std::nullopt, has_library.error()});
  return configs.size() + (*has_library ? 1 : 0);
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
  return std::optional(std::move(times));
}

}  // namespace tuner::session
