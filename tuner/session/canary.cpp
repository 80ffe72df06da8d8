// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/canary.hpp"

#include "tuner/measure/canary.hpp"
#include "tuner/measure/clock_watch.hpp"
#include "tuner/measure/statistics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace tuner {
namespace {

constexpr int kWarmUp = 2;
constexpr int kSamples = 7;

}  // namespace

void Canary::watch(SizeSearch& search, const Config& config) {
  since_.push_back({.search = &search, .config = config});
}

bool Canary::line_up() {
  device_.begin_lineup(search_.size());
  if (device_.add_library()) return true;
  const Config& config = search_.seeds().default_config;
  if (!search_.ended_ok(config)) return false;
  const Compiled compiled = pool_.submit(compile_job(kernel_, search_.space(), config)).get();
  return compiled.binary && device_.add_contender({.kernel = kernel_,
                                                   .space = search_.space(),
                                                   .config = config,
                                                   .binary = *compiled.binary});
}

std::optional<std::vector<Sample>> Canary::retime() {
  if (!line_up()) return std::nullopt;
  std::vector<Sample> samples;
  for (int i = 0; i < kWarmUp + kSamples; ++i) {
    const auto sample = device_.time_contender(0);
    if (!sample) return std::nullopt;
    if (i >= kWarmUp) samples.push_back(*sample);
  }
  return samples;
}

std::vector<Canary::Suspect> Canary::look(double elapsed_s) {
  next_ = Clock::now() + kInterval;
  const auto samples = retime();
  if (!samples) return {};
  const double now_ns = *quantile(times(*samples), 0.5);
  store_.record_canary(session_, {.elapsed_s = elapsed_s,
                                  .problem = fmt::format("{}", fmt::join(search_.size(), ",")),
                                  .median_ns = now_ns,
                                  .clock_mhz = median_clock(*samples)});
  const bool drifted = baseline_ns_ && has_drifted(*baseline_ns_, now_ns);
  baseline_ns_ = now_ns;
  std::vector<Suspect> suspects;
  for (Suspect& timed : std::exchange(since_, {})) {
    if (!drifted || suspicions_[{timed.search, timed.config}]++ >= kMostSuspicions) continue;
    suspects.push_back(std::move(timed));
  }
  return suspects;
}

}  // namespace tuner
