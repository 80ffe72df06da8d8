// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/steady_sampler.hpp"

#include "tuner/core/failpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace tuner::measure {

Expected<void, Failure> SteadySampler::reach(int count) {
  while (std::cmp_less(kept_.size(), count)) {
    const int missing = count - static_cast<int>(kept_.size());
    const auto samples = backend_.time(
        work_, {.warm_up = 0, .samples = missing, .warm_up_ns = 0, .before = plan_.before});
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
  return fallen_.size() > 3 * std::max(kept_.size(), static_cast<std::size_t>(count));
}

Failure SteadySampler::unstable() const {
  return {Outcome::unstable,
          fmt::format("the device's clock did not hold: {} samples were discarded at a median of "
                      "{:.0f} MHz, below 96 % of the {:.0f} MHz it ran at before. Look at its "
                      "temperature and at what else runs on it (`nvidia-smi`), then run again.",
                      discarded(), median_clock(fallen_).value_or(0),
                      watch_.baseline_mhz().value_or(0))};
}

void SteadySampler::pause() {
  constexpr int kMostDoublings = 4;
  std::this_thread::sleep_for(plan_.pause * (1 << std::min(pauses_++, kMostDoublings)));
}

}  // namespace tuner::measure
