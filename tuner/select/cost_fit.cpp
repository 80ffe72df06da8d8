// SPDX-License-Identifier: Apache-2.0
// Fits the cost model to the times that there are.
#include "tuner/select/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <set>
#include <utility>

namespace tuner::select {
namespace {

constexpr std::size_t kLeastSizes = 3;
constexpr std::size_t kLeastTimes = 12;
constexpr double kLongestFixed = 10'000;  // ns

/// A time with the launch that took it.
struct Timed {
  std::size_t config = 0;
  std::size_t size = 0;
  double ns = 0;
  LaunchShape shape;
};

class Fit {
 public:
  Fit(const RankedKernel& kernel, const space::DeviceAttributes& device,
      std::span<const KnownSize> sizes, std::span<const KnownConfig> configs)
      : kernel_(kernel), multiprocessors_(device.sm_count) {
    add_samples(device, sizes, configs);
  }

  [[nodiscard]] bool has_enough() const {
    std::set<std::size_t> timed;
    for (const Timed& sample : samples_) timed.insert(sample.size);
    return timed.size() >= kLeastSizes && samples_.size() >= kLeastTimes;
  }

  [[nodiscard]] FittedCost run() && {
    choose_parameters();
    for (Timed& it : samples_) {
      const double residual = beyond_physics(it, found_.parameters);
      found_.samples.push_back({.config = it.config,
                                .size = it.size,
                                .variant = std::move(it.shape.variant),
                                .residual = residual});
    }
    return std::move(found_);
  }

 private:
  void add_samples(const space::DeviceAttributes& device, std::span<const KnownSize> sizes,
                   std::span<const KnownConfig> configs) {
    std::vector<space::BoundDefinition> at_sizes;
    at_sizes.reserve(sizes.size());
    for (const KnownSize& size : sizes) at_sizes.push_back(kernel_.at(device, size.numbers));
    for (std::size_t c = 0; c < configs.size(); ++c) {
      const auto first = static_cast<std::ptrdiff_t>(samples_.size());
      if (!configs[c].config) continue;
      for (const Timing& timing : configs[c].timings) {
        auto shape = launch_shape(kernel_, device, at_sizes[timing.size], *configs[c].config,
                                  timing.registers);
        if (!shape || shape->block_flops <= 0) continue;
        samples_.push_back(
            {.config = c, .size = timing.size, .ns = timing.ns, .shape = *std::move(shape)});
      }
      const auto own = samples_.begin() + first;
      std::stable_sort(own, samples_.end(), [](const Timed& a, const Timed& b) {
        return a.shape.variant < b.shape.variant;
      });
    }
  }

  static bool same_code(const Timed& a, const Timed& b) {
    return a.config == b.config && a.shape.variant == b.shape.variant;
  }

  [[nodiscard]] double beyond_physics(const Timed& sample, const CostParameters& parameters) const {
    return std::log(sample.ns / physical_ns(sample.shape, parameters, multiprocessors_));
  }

  /// How far times of the same code at different sizes are from the physical part, beyond
  /// what is the configuration's own.
  [[nodiscard]] double spread(const CostParameters& parameters) const {
    double squares = 0;
    for (std::size_t first = 0, last = 0; first < samples_.size(); first = last) {
      double sum = 0, sum_squares = 0;
      for (last = first; last < samples_.size() && same_code(samples_[first], samples_[last]);
           ++last) {
        const double x = beyond_physics(samples_[last], parameters);
        sum += x;
        sum_squares += x * x;
      }
      squares += sum_squares - sum * sum / static_cast<double>(last - first);
    }
    return squares;
  }

  /// Tries a few values of one parameter after the other, twice: the spread is flat near its least.
  void choose_parameters() {
    double least = std::numeric_limits<double>::infinity();
    double fastest = 1e-9, widest = 1e-9;
    const auto multiprocessors = static_cast<double>(std::max<std::int64_t>(1, multiprocessors_));
    for (const Timed& sample : samples_) {
      least = std::min(least, sample.ns);
      fastest = std::max(fastest, sample.shape.flops / sample.ns / multiprocessors);
      widest = std::max(widest, sample.shape.bytes / sample.ns);
    }
    least = std::min(least, kLongestFixed);
    found_.parameters = {.fixed_ns = 0.7 * least,
                         .scratch_ns = 0,
                         .flops_per_ns = 1.1 * fastest,
                         .half_warps = 2,
                         .bytes_per_ns = widest,
                         .sm_bytes_per_ns = 2 * widest / multiprocessors,
                         .sharpness = 2};
    double best = spread(found_.parameters);
    const auto try_values = [&](double CostParameters::*member, double unit,
                                std::initializer_list<double> values) {
      double& parameter = found_.parameters.*member;
      for (const double value : values) {
        const double before = std::exchange(parameter, value * unit);
        const double there = spread(found_.parameters);
        if (there >= best) {
          parameter = before;
        } else {
          best = there;
        }
      }
    };
    for (int round = 0; round < 2; ++round) {
      try_values(&CostParameters::fixed_ns, least, {0, 0.3, 0.6, 0.8, 0.87, 0.92});
      try_values(&CostParameters::scratch_ns, 1000, {0, 1, 2, 3, 4, 5});
      try_values(&CostParameters::half_warps, 1, {0.5, 1, 2, 4, 8, 16});
      try_values(&CostParameters::bytes_per_ns, widest, {0.3, 0.5, 0.7, 0.85, 1, 1.2, 1.5});
      try_values(&CostParameters::sm_bytes_per_ns, widest / multiprocessors, {1, 1.5, 2, 3, 1e6});
      try_values(&CostParameters::sharpness, 1, {1, 2, 4, 8});
    }
  }

  const RankedKernel& kernel_;
  std::int64_t multiprocessors_;
  std::vector<Timed> samples_;  // by configuration, equal code together
  FittedCost found_;
};

}  // namespace

std::optional<FittedCost> fit_cost(const RankedKernel& kernel,
                                   const space::DeviceAttributes& device,
                                   std::span<const KnownSize> sizes,
                                   std::span<const KnownConfig> configs) {
  if (kernel.kernel().steps.empty() || kernel.flops().slots().empty()) return std::nullopt;
  Fit fit(kernel, device, sizes, configs);
  if (!fit.has_enough()) return std::nullopt;
  FittedCost fitted = std::move(fit).run();
  const bool are_times = std::ranges::all_of(
      fitted.samples, [](const auto& it) { return std::isfinite(it.residual); });
  if (!are_times) return std::nullopt;
  return fitted;
}

}  // namespace tuner::select
