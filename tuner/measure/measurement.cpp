// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/measurement.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/measure/steady_sampler.hpp"

#include <algorithm>
#include <numeric>

namespace tuner::measure {
namespace {

/// Takes samples of a contender until its median is known well enough, or there are enough.
Expected<void, Failure> sample_until_known(SteadySampler& sampler, const ScreenPlan& plan) {
  std::vector<double> noise;
  while (std::cmp_less(sampler.kept().size(), plan.most_samples)) {
    const std::vector<double> times_ns = times(sampler.kept());
    const auto error = relative_error_of_median(times_ns);
    if (!error || *error <= plan.target_error) break;
    noise.push_back(relative_deviation(times_ns).value_or(0));
    if (noise_is_stable(noise)) break;
    if (std::accumulate(times_ns.begin(), times_ns.end(), 0.0) >= plan.most_sampling_ns) break;
    const int next = static_cast<int>(times_ns.size()) + plan.step_samples;
    if (auto done = sampler.reach(std::min(next, plan.most_samples)); !done) return done;
  }
  return {};
}

/// The full number of samples, or as many as there is time for.
int full_samples(const ScreenPlan& plan, const std::vector<double>& probe_ns) {
  const double affordable = plan.most_sampling_ns / *quantile(probe_ns, 0.5);
  return static_cast<int>(std::clamp<double>(affordable, plan.probe_samples, plan.full_samples));
}

Measurement measurement_of(const SteadySampler& sampler) {
  Measurement measurement;
  measurement.samples_ns = times(sampler.kept());
  measurement.time = summarise(measurement.samples_ns);
  measurement.clock_mhz = median_clock(sampler.kept());
  measurement.discarded = sampler.discarded();
  measurement.power_capped = sampler.power_capped();
  return measurement;
}

/// By what factor of the best the minimum of a probe shows that its median is no contender's:
/// sooner for a calm probe than for a noisy one. Its spread is that of its samples over their
/// minimum.
double hopeless_factor(const ScreenPlan& plan, const std::vector<double>& probe_ns) {
  const auto [least, most] = std::ranges::minmax(probe_ns);
  const double spread = (most - least) / least;
  return std::min(plan.hopeless_factor, plan.contender_factor * (1 + plan.spreads * spread));
}

}  // namespace

Expected<Measurement, Failure> screen(backend::Backend& backend, const backend::Work& work,
                                      const ScreenPlan& plan, std::optional<double> best_ns,
                                      ClockWatch& watch) {
  const auto within = [&](double factor, double time_ns) {
    return !best_ns || time_ns <= factor * *best_ns;
  };
  const backend::SamplePlan warm_up{
      .warm_up = 1, .samples = 0, .warm_up_ns = plan.warm_up_ns, .before = plan.before};
  if (auto warm = backend.time(work, warm_up); !warm) return Unexpected(warm.error());
  failpoint("measure.warmed_up");
  SteadySampler sampler(backend, work, watch, plan);
  if (auto done = sampler.reach(plan.probe_samples); !done) return Unexpected(done.error());
  const std::vector<double> probe_ns = times(sampler.kept());
  if (!within(hopeless_factor(plan, probe_ns), std::ranges::min(probe_ns))) {
    return measurement_of(sampler);
  }
  if (auto done = sampler.reach(full_samples(plan, probe_ns)); !done)
    return Unexpected(done.error());
  if (!within(plan.contender_factor, *quantile(times(sampler.kept()), 0.5))) {
    return measurement_of(sampler);
  }
  if (auto done = sample_until_known(sampler, plan); !done) return Unexpected(done.error());
  Measurement measurement = measurement_of(sampler);
  if (!plan.hot) return measurement;
  const auto hot_ns = backend.time_hot(work);
  if (!hot_ns) return Unexpected(hot_ns.error());
  measurement.hot_ns = *hot_ns;
  failpoint("measure.timed_hot");
  return measurement;
}

}  // namespace tuner::measure
