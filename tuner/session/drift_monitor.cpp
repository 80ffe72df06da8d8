// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/drift_monitor.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/measure/clock_watch.hpp"
#include "tuner/measure/drift.hpp"
#include "tuner/measure/statistics.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {
namespace {

constexpr int kDriftWarmUp = 2;
constexpr int kDriftSamples = 7;

/// Whether no sample of the one lies among those of the other: else it may be mere noise, of which
/// a processor shared with other programs has plenty.
bool apart(const std::vector<double>& one, const std::vector<double>& other) {
  const auto [least, most] = std::ranges::minmax(one);
  const auto [other_least, other_most] = std::ranges::minmax(other);
  return most < other_least || other_most < least;
}

}  // namespace

void DriftMonitor::add(SizeSearch& search, const space::Config& config) {
  since_.push_back({.search = &search, .config = config});
}

bool DriftMonitor::load_work() {
  device_.begin_side_by_side(search_.size());
  const auto library = device_.add_library({});
  if (!library) return false;
  if (*library) return true;
  const space::Config& config = search_.required_finalists().default_config;
  if (!search_.ended_ok(config)) return false;
  const worker::Compiled compiled =
      pool_.submit(family::compile_job(kernel_, search_.space(), config)).get();
  return compiled.binary && device_.add_contender({.kernel = kernel_,
                                                   .space = search_.space(),
                                                   .config = config,
                                                   .binary = *compiled.binary});
}

std::vector<backend::Sample> DriftMonitor::retime() {
  if (!load_work()) return {};
  std::vector<backend::Sample> samples;
  for (int i = 0; i < kDriftWarmUp + kDriftSamples; ++i) {
    const auto sample = device_.time_contender(0);
    if (!sample) return {};
    if (i >= kDriftWarmUp) samples.push_back(*sample);
  }
  return samples;
}

std::vector<DriftMonitor::Suspect> DriftMonitor::check(double elapsed_s) {
  next_ = now_() + kInterval;
  const auto samples = retime();
  if (samples.empty()) return {};
  failpoint("session.drift_timed");
  std::vector<double> now_ns = measure::times(samples);
  store_.record_drift(
      run_, {.elapsed_s = elapsed_s,
             .problem = space::canonical_size(search_.size(), search_.space().definition().dims),
             .median_ns = *measure::quantile(now_ns, 0.5),
             .clock_mhz = measure::median_clock(samples)});
  const bool drifted =
      !baseline_ns_.empty() && apart(baseline_ns_, now_ns) &&
      measure::has_drifted(*measure::quantile(baseline_ns_, 0.5), *measure::quantile(now_ns, 0.5));
  baseline_ns_ = std::move(now_ns);
  std::vector<Suspect> suspects;
  for (Suspect& timed : std::exchange(since_, {})) {
    if (!drifted || suspicions_[{timed.search, timed.config}]++ >= kMostSuspicions) continue;
    suspects.push_back(std::move(timed));
  }
  return suspects;
}

}  // namespace tuner::session
