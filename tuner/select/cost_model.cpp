// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/cost_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

namespace tuner {
namespace {

constexpr std::size_t kLeastSizes = 3;
constexpr std::size_t kLeastTimes = 12;
/// Sizes this far apart, in ln, tell little of each other.
constexpr double kReach = 1.2;
constexpr double kReachOfSizes = 1.0;
/// How many times a prior counts that a configuration, and a size, is as all others.
constexpr double kPriorOfConfig = 0.1;
constexpr double kPriorOfSize = 2;
constexpr double kPriorOfPlace = 0.5;
/// What a time of the same configuration in other code counts, such as with narrower accesses where
/// rows are not aligned.
constexpr double kWeightOfOtherCode = 0.2;
/// Of ln time, where a configuration was timed at no size near by: of many, the one that looks best
/// is often one of which little is known.
constexpr double kCaution = 0.35;
/// The fixed part never is more of a time than this.
constexpr double kMostFixed = 0.95;
constexpr double kLongestFixed = 10'000;  // ns

double saturation(double warps, double half) {
  return warps / (warps + half);
}

/// Time of the multiprocessor that has the most blocks to do.
double compute_ns(const LaunchShape& shape, const CostParameters& p, double blocks) {
  const double full = std::floor(blocks / shape.resident);
  const double tail = blocks - full * shape.resident;
  const auto rate = [&](double resident) {
    return p.flops_per_ns * saturation(resident * shape.warps, p.half_warps);
  };
  double ns = 0;
  if (full > 0) ns += full * shape.resident * shape.block_flops / rate(shape.resident);
  if (tail > 0) ns += tail * shape.block_flops / rate(tail);
  return ns;
}

}  // namespace

Cost cost(const LaunchShape& shape, const CostParameters& p, std::int64_t multiprocessors) {
  constexpr double kHalfWarpsOfMemory = 16;
  const double blocks =
      std::ceil(shape.blocks / static_cast<double>(std::max<std::int64_t>(1, multiprocessors)));
  const double compute = compute_ns(shape, p, blocks);
  const double memory = shape.bytes / p.bytes_per_ns;
  const double warps = std::min(blocks, shape.resident) * shape.warps;
  const double share = blocks * shape.bytes / shape.blocks /
                       (p.sm_bytes_per_ns * saturation(warps, kHalfWarpsOfMemory));
  const double largest = std::max({compute, memory, share, 1e-3});
  const auto part = [&](double ns) { return std::pow(ns / largest, p.sharpness); };
  return {
      .fixed_ns = p.fixed_ns + (shape.scratch ? p.scratch_ns : 0),
      .work_ns = largest * std::pow(part(compute) + part(memory) + part(share), 1 / p.sharpness)};
}

double log_distance(const Size& a, const Size& b, const StoredKernel& kernel) {
  double squares = 0;
  for (const std::size_t slot : kernel.flops.slots()) {
    const std::size_t i = slot - attribute_fields().size();
    const double ln = std::log(static_cast<double>(a[i]) / static_cast<double>(b[i]));
    squares += ln * ln;
  }
  return std::sqrt(squares);
}

CostModel::CostModel(const StoredKernel& kernel, const DeviceAttributes& device,
                     std::span<const KnownSize> sizes)
    : kernel_(kernel), multiprocessors_(device.sm_count), size_effects_(sizes.size()) {
  for (const KnownSize& size : sizes) sizes_.push_back(size.numbers);
}

std::shared_ptr<const CostModel> CostModel::fit(const StoredKernel& kernel,
                                                const DeviceAttributes& device,
                                                std::span<const KnownSize> sizes,
                                                std::span<const KnownConfig> configs) {
  if (kernel.grid.empty() || kernel.flops.slots().empty()) return nullptr;
  CostModel model(kernel, device, sizes);
  model.add_samples(configs, device);
  std::vector<bool> seen(sizes.size());
  for (const Sample& sample : model.samples_) seen[sample.size] = true;
  const auto timed = static_cast<std::size_t>(std::ranges::count(seen, true));
  if (timed < kLeastSizes || model.samples_.size() < kLeastTimes) return nullptr;
  model.choose_parameters();
  model.set_residuals();
  model.fit_effects();
  return std::make_shared<const CostModel>(std::move(model));
}

void CostModel::add_samples(std::span<const KnownConfig> configs, const DeviceAttributes& device) {
  std::vector<KernelAtSize> at_sizes;
  at_sizes.reserve(sizes_.size());
  for (const Size& size : sizes_) at_sizes.emplace_back(kernel_, device, size);
  for (std::size_t c = 0; c < configs.size(); ++c) {
    first_sample_.push_back(samples_.size());
    if (!configs[c].config) continue;
    for (const Timing& timing : configs[c].timings) {
      auto shape = launch_shape(kernel_, device, at_sizes[timing.size], *configs[c].config,
                                timing.registers);
      if (!shape || shape->block_flops <= 0) continue;
      samples_.push_back({.config = c,
                          .size = timing.size,
                          .median_ns = timing.median_ns,
                          .shape = *std::move(shape)});
    }
    const auto own = samples_.begin() + static_cast<std::ptrdiff_t>(first_sample_.back());
    std::stable_sort(own, samples_.end(), [](const Sample& a, const Sample& b) {
      return a.shape.variant < b.shape.variant;
    });
  }
  first_sample_.push_back(samples_.size());
  config_effects_.resize(configs.size());
}

bool CostModel::same_code(const Sample& a, const Sample& b) {
  return a.config == b.config && a.shape.variant == b.shape.variant;
}

/// ln of the time beyond the fixed part over the work, and its weight: the less of the time the
/// work is, the less it tells.
std::pair<double, double> CostModel::beyond_physics(const Sample& sample,
                                                    const CostParameters& parameters) const {
  const Cost it = cost(sample.shape, parameters, multiprocessors_);
  const double beyond =
      std::max(sample.median_ns - it.fixed_ns, (1 - kMostFixed) * sample.median_ns);
  const double share = it.work_ns / (it.work_ns + it.fixed_ns);
  return {std::log(beyond / it.work_ns), share * share};
}

/// How far times of the same code at different sizes are from the physical part, beyond
/// what is the configuration's own.
double CostModel::spread(const CostParameters& parameters) const {
  double squares = 0;
  double freedom = 1e-9;
  for (std::size_t first = 0, last = 0; first < samples_.size(); first = last) {
    double weights = 0, sum = 0, sum_squares = 0;
    for (last = first; last < samples_.size() && same_code(samples_[first], samples_[last]);
         ++last) {
      const auto [x, weight] = beyond_physics(samples_[last], parameters);
      weights += weight;
      sum += weight * x;
      sum_squares += weight * x * x;
    }
    squares += sum_squares - sum * sum / weights;
    freedom += static_cast<double>(last - first) - 1;
  }
  return squares / freedom;
}

/// Tries a few values of one parameter after the other, twice: the spread is flat near its least.
void CostModel::choose_parameters() {
  double least = std::numeric_limits<double>::infinity();
  double fastest = 1e-9, widest = 1e-9;
  const auto multiprocessors = static_cast<double>(std::max<std::int64_t>(1, multiprocessors_));
  for (const Sample& sample : samples_) {
    least = std::min(least, sample.median_ns);
    fastest = std::max(fastest, sample.shape.flops / sample.median_ns / multiprocessors);
    widest = std::max(widest, sample.shape.bytes / sample.median_ns);
  }
  least = std::min(least, kLongestFixed);
  parameters_ = {.fixed_ns = 0.7 * least,
                 .scratch_ns = 0,
                 .flops_per_ns = 1.1 * fastest,
                 .half_warps = 2,
                 .bytes_per_ns = widest,
                 .sm_bytes_per_ns = 2 * widest / multiprocessors,
                 .sharpness = 2};
  double best = spread(parameters_);
  const auto try_values = [&](double CostParameters::*member, double unit,
                              std::initializer_list<double> values) {
    for (const double value : values) {
      CostParameters other = parameters_;
      other.*member = value * unit;
      const double there = spread(other);
      if (there >= best) continue;
      best = there;
      parameters_ = other;
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

void CostModel::set_residuals() {
  double weights = 0, sum = 0;
  for (Sample& sample : samples_) {
    std::tie(sample.residual, sample.weight) = beyond_physics(sample, parameters_);
    weights += sample.weight;
    sum += sample.weight * sample.residual;
  }
  mean_ = sum / weights;
  for (Sample& sample : samples_) sample.residual -= mean_;
}

/// residual = effect of the configuration + effect of the size + the rest, by turns.
void CostModel::fit_effects() {
  const auto estimate = [&](std::vector<double>& effects, const std::vector<double>& others,
                            std::size_t Sample::*own, std::size_t Sample::*other, double prior) {
    std::vector<double> weights(effects.size(), prior);
    std::vector<double> sums(effects.size(), 0);
    for (const Sample& it : samples_) {
      weights[it.*own] += it.weight;
      sums[it.*own] += it.weight * (it.residual - others[it.*other]);
    }
    for (std::size_t i = 0; i < effects.size(); ++i) effects[i] = sums[i] / weights[i];
  };
  for (int round = 0; round < 4; ++round) {
    estimate(config_effects_, size_effects_, &Sample::config, &Sample::size, kPriorOfConfig);
    estimate(size_effects_, config_effects_, &Sample::size, &Sample::config, kPriorOfSize);
  }
  for (Sample& it : samples_) it.residual -= config_effects_[it.config] + size_effects_[it.size];
}

double CostModel::size_effect(const Size& size) const {
  double weights = 1e-9, sum = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const double distance = log_distance(size, sizes_[i], kernel_) / kReachOfSizes;
    const double weight = std::exp(-distance * distance / 2) + 1e-3;
    weights += weight;
    sum += weight * size_effects_[i];
  }
  return sum / weights;
}

double CostModel::expected_ns(std::size_t config, const LaunchShape& shape, const Size& size,
                              double size_effect) const {
  double weights = kPriorOfPlace, sum = 0;
  for (std::size_t i = first_sample_[config]; i < first_sample_[config + 1]; ++i) {
    const Sample& sample = samples_[i];
    const double likeness = sample.shape.variant == shape.variant ? 1 : kWeightOfOtherCode;
    const double distance = log_distance(size, sizes_[sample.size], kernel_) / kReach;
    const double weight = likeness * sample.weight * std::exp(-distance * distance / 2);
    weights += weight;
    sum += weight * sample.residual;
  }
  const Cost it = cost(shape, parameters_, multiprocessors_);
  return it.fixed_ns +
         it.work_ns * std::exp(mean_ + config_effects_[config] + size_effect + sum / weights +
                               kCaution * std::sqrt(kPriorOfPlace / weights));
}

double CostModel::expected_ns(std::size_t config, const LaunchShape& shape,
                              const Size& size) const {
  return expected_ns(config, shape, size, size_effect(size));
}

}  // namespace tuner
