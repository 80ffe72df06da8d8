// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/measurement.hpp"

#include "tuner/core/failpoint.hpp"
#include "tuner/measure/plausibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <thread>
#include <utility>

namespace tuner::measure {
namespace {

/// The samples of one piece of work that were taken at a steady clock, and those that were not.
class SteadySampler {
 public:
  /// All must outlive it. Of the plan it takes the pause after the first samples at a fallen clock.
  SteadySampler(backend::Backend& backend, const backend::Work& work, LaunchAudit& audit,
                ClockWatch& watch, const ScreenPlan& plan)
      : backend_(backend), work_(work), audit_(audit), watch_(watch), plan_(plan) {}

  /// Takes samples until `count` are kept. After three discarded for each kept, or four pauses, the
  /// clock is taken for granted and every sample so far is dropped, once; after three discarded for
  /// each kept again it fails as `unstable`.
  Expected<void, Failure> reach(int count);

  [[nodiscard]] const std::vector<backend::Sample>& kept() const { return kept_; }
  [[nodiscard]] int discarded() const { return static_cast<int>(dropped_ + fallen_.size()); }
  [[nodiscard]] bool power_capped() const { return power_capped_; }

 private:
  [[nodiscard]] Expected<std::vector<backend::Sample>, Failure> take(int count);
  void sort_out(const std::vector<backend::Sample>& samples);
  [[nodiscard]] bool hopeless(int count) const;
  [[nodiscard]] Failure unstable() const;
  void pause();

  backend::Backend& backend_;
  const backend::Work& work_;
  LaunchAudit& audit_;
  ClockWatch& watch_;
  const ScreenPlan& plan_;
  std::vector<backend::Sample> kept_;
  std::vector<backend::Sample> fallen_;  ///< discarded since the baseline was last set
  std::size_t dropped_ = 0;              ///< before that
  int pauses_ = 0;
  bool rebased_ = false;
  bool power_capped_ = false;
};

Expected<void, Failure> SteadySampler::reach(int count) {
  while (std::cmp_less(kept_.size(), count)) {
    const int missing = count - static_cast<int>(kept_.size());
    const auto samples = take(missing);
    if (!samples) return Unexpected(samples.error());
    failpoint("measure.sampled");
    const std::size_t fallen_before = fallen_.size();
    sort_out(*samples);
    if (fallen_.size() == fallen_before) continue;
    if (!hopeless(count)) {
      pause();
    } else if (!rebased_) {
      rebased_ = true;
      watch_.rebase(fallen_);
      dropped_ = kept_.size() + fallen_.size();
      kept_.clear();
      fallen_.clear();
    } else {
      return Unexpected(unstable());
    }
  }
  return {};
}

Expected<std::vector<backend::Sample>, Failure> SteadySampler::take(int count) {
  std::vector<backend::Sample> samples;
  while (std::cmp_less(samples.size(), count)) {
    const auto sample = backend_.time(work_, {.samples = 1, .before = audit_.before_launch()});
    if (!sample) return sample;
    if (auto right = audit_.after_launch(); !right) return Unexpected(std::move(right.error()));
    samples.push_back(sample->front());
  }
  return samples;
}

void SteadySampler::sort_out(const std::vector<backend::Sample>& samples) {
  const auto fallen = [this](const backend::Sample& sample) { return !watch_.steady(sample); };
  bool keep_all = std::ranges::none_of(samples, fallen);
  if (!keep_all) {
    // Asked only now, as it takes the driver longer than a sample.
    const backend::Conditions now = backend_.conditions();
    keep_all = now.power_capped && !now.throttled;
    power_capped_ = power_capped_ || keep_all;
  }
  for (const backend::Sample& sample : samples) {
    (keep_all || !fallen(sample) ? kept_ : fallen_).push_back(sample);
  }
}

bool SteadySampler::hopeless(int count) const {
  // The last missing samples are retaken one by one: by their number alone it took 46 s (H100).
  constexpr int kMostPauses = 4;
  if (!rebased_ && pauses_ == kMostPauses) return true;
  return fallen_.size() > 3 * std::max(kept_.size(), static_cast<std::size_t>(count));
}

Failure SteadySampler::unstable() const {
  return {Outcome::unstable,
          fmt::format("the device's clock dropped: {} samples were discarded at a median of "
                      "{:.0f} MHz, below 96 % of the {:.0f} MHz it ran at before. Look at its "
                      "temperature and at what else runs on it (`nvidia-smi`), then run again.",
                      discarded(), median_clock(fallen_).value_or(0),
                      watch_.baseline_mhz().value_or(0))};
}

void SteadySampler::pause() {
  constexpr int kMostDoublings = 4;
  std::this_thread::sleep_for(plan_.pause * (1 << std::min(pauses_++, kMostDoublings)));
}

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

bool is_within(double factor, std::optional<double> best_ns, double time_ns) {
  return !best_ns || time_ns <= factor * *best_ns;
}

/// By what factor of the best the minimum of a probe shows that its median is no contender's:
/// sooner for a calm probe than for a noisy one. Its spread is that of its samples over their
/// minimum.
double hopeless_factor(const ScreenPlan& plan, const std::vector<double>& probe_ns) {
  const auto [least, most] = std::ranges::minmax(probe_ns);
  const double spread = (most - least) / least;
  return std::min(plan.hopeless_factor, plan.contender_factor * (1 + plan.spreads * spread));
}

/// The samples of a candidate: as many as it is worth beside `best_ns`.
Expected<Measurement, Failure> sample(backend::Backend& backend, const backend::Work& work,
                                      LaunchAudit& audit, const ScreenPlan& plan,
                                      std::optional<double> best_ns, ClockWatch& watch) {
  const backend::SamplePlan warm_up{
      .warm_up = 1, .samples = 0, .warm_up_ns = plan.warm_up_ns, .before = audit.before_launch()};
  if (auto warm = backend.time(work, warm_up); !warm) return Unexpected(warm.error());
  failpoint("measure.warmed_up");
  SteadySampler sampler(backend, work, audit, watch, plan);
  if (auto done = sampler.reach(plan.probe_samples); !done) return Unexpected(done.error());
  const std::vector<double> probe_ns = times(sampler.kept());
  if (!is_within(hopeless_factor(plan, probe_ns), best_ns, std::ranges::min(probe_ns))) {
    return measurement_of(sampler);
  }
  if (auto done = sampler.reach(full_samples(plan, probe_ns)); !done)
    return Unexpected(done.error());
  if (is_within(plan.contender_factor, best_ns, *quantile(times(sampler.kept()), 0.5))) {
    if (auto done = sample_until_known(sampler, plan); !done) return Unexpected(done.error());
  }
  return measurement_of(sampler);
}

/// The median of the plan's series.
Expected<double, Failure> time_series(backend::Backend& backend, LaunchAudit& audit,
                                      const ScreenPlan& plan) {
  std::vector<double> times_ns;
  for (int i = 0; i < plan.series; ++i) {
    const auto timed = backend.time_series(audit.before_series(), backend::Lead::none);
    if (!timed) return Unexpected(timed.error());
    if (auto right = audit.after_series(timed->runs); !right) return Unexpected(right.error());
    times_ns.push_back(timed->time_ns);
  }
  return *quantile(times_ns, 0.5);
}

Expected<double, Failure> time_hot(backend::Backend& backend, const backend::Work& work,
                                   LaunchAudit& audit) {
  audit.before_repetition();
  auto hot_ns = backend.time_hot(work);
  if (!hot_ns) return hot_ns;
  if (auto right = audit.after_repetition(); !right) return Unexpected(right.error());
  return hot_ns;
}

}  // namespace

Expected<Measurement, Failure> screen(backend::Backend& backend, const backend::Work& work,
                                      LaunchAudit& audit, const ScreenPlan& plan,
                                      std::optional<double> best_ns, ClockWatch& watch) {
  auto measurement = sample(backend, work, audit, plan, best_ns, watch);
  if (!measurement || !plan.back_to_back) return measurement;
  const double median_ns = measurement->time->median_ns;
  if (median_ns <= plan.most_series_ns && is_within(plan.series_factor, best_ns, median_ns)) {
    const auto series_ns = time_series(backend, audit, plan);
    if (!series_ns) return Unexpected(series_ns.error());
    measurement->series_ns = *series_ns;
    failpoint("measure.timed_series");
  }
  if (is_within(plan.contender_factor, best_ns, median_ns)) {
    const auto hot_ns = time_hot(backend, work, audit);
    if (!hot_ns) return Unexpected(hot_ns.error());
    measurement->hot_ns = *hot_ns;
    failpoint("measure.timed_hot");
    // A busy host interrupts launches back to back where it let a single one pass; rarely after a
    // pause.
    for (int i = 0; i < plan.hot_repetitions && contradiction(*measurement); ++i) {
      std::this_thread::sleep_for(plan.pause);
      const auto again_ns = time_hot(backend, work, audit);
      if (!again_ns) return Unexpected(again_ns.error());
      measurement->hot_ns = std::min(*measurement->hot_ns, *again_ns);
    }
  }
  return measurement;
}

}  // namespace tuner::measure
