// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/cost_model.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tuner::select {
namespace {

/// Sizes this far apart, in ln, tell little of each other.
constexpr double kReach = 1.2;
constexpr double kReachOfSizes = 1.0;
constexpr double kPriorOfPlace = 0.5;
/// What a time of the same configuration in other code counts, such as with narrower accesses where
/// rows are not aligned.
constexpr double kWeightOfOtherCode = 0.2;
/// Of ln time, where a configuration was timed at no size near by.
constexpr double kDeviationUntimed = 0.5;
/// An expectation is this many deviations longer than the mean: of many configurations, the one
/// that looks best is often one of which little is known.
constexpr double kCaution = 0.7;

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

[[noreturn]] void refuse_fit() {
  throw Error(ErrorCode::usage, "its cost model is not of its sizes and configurations");
}

}  // namespace

LaunchCost cost(const LaunchShape& shape, const CostParameters& p, std::int64_t multiprocessors) {
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

double log_distance(const space::Size& a, const space::Size& b, const StoredKernel& kernel) {
  double squares = 0;
  for (const std::size_t slot : kernel.flops.slots()) {
    const std::size_t i = slot - space::attribute_fields().size();
    const double ln = std::log(static_cast<double>(a[i]) / static_cast<double>(b[i]));
    squares += ln * ln;
  }
  return std::sqrt(squares);
}

CostModel::CostModel(StoredKernel kernel, const space::DeviceAttributes& device,
                     std::span<const KnownSize> sizes, FittedCost fitted)
    : kernel_(std::move(kernel)), multiprocessors_(device.sm_count), fitted_(std::move(fitted)) {
  for (const KnownSize& size : sizes) sizes_.push_back(size.numbers);
  if (fitted_.size_effects.size() != sizes_.size()) refuse_fit();
  first_sample_.resize(fitted_.config_effects.size() + 1);
  std::size_t last_config = 0;
  for (const FittedCost::Sample& sample : fitted_.samples) {
    if (sample.config < last_config || sample.config >= fitted_.config_effects.size() ||
        sample.size >= sizes_.size()) {
      refuse_fit();
    }
    last_config = sample.config;
    ++first_sample_[sample.config + 1];
  }
  std::partial_sum(first_sample_.begin(), first_sample_.end(), first_sample_.begin());
}

std::shared_ptr<const CostModel> CostModel::fit(const StoredKernel& kernel,
                                                const space::DeviceAttributes& device,
                                                std::span<const KnownSize> sizes,
                                                std::span<const KnownConfig> configs) {
  auto fitted = fit_cost(kernel, device, sizes, configs);
  if (!fitted) return nullptr;
  return std::make_shared<const CostModel>(kernel, device, sizes, *std::move(fitted));
}

double CostModel::size_effect(const space::Size& size) const {
  double weights = 1e-9, sum = 0;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const double distance = log_distance(size, sizes_[i], kernel_) / kReachOfSizes;
    const double weight = std::exp(-distance * distance / 2) + 1e-3;
    weights += weight;
    sum += weight * fitted_.size_effects[i];
  }
  return sum / weights;
}

ExpectedTime CostModel::expected(std::size_t config, const LaunchShape& shape,
                                 const space::Size& size, double size_effect) const {
  double weights = kPriorOfPlace, sum = 0;
  for (std::size_t i = first_sample_[config]; i < first_sample_[config + 1]; ++i) {
    const FittedCost::Sample& sample = fitted_.samples[i];
    const double likeness = sample.variant == shape.variant ? 1 : kWeightOfOtherCode;
    const double distance = log_distance(size, sizes_[sample.size], kernel_) / kReach;
    const double weight = likeness * sample.weight * std::exp(-distance * distance / 2);
    weights += weight;
    sum += weight * sample.residual;
  }
  const LaunchCost it = cost(shape, fitted_.parameters, multiprocessors_);
  const double deviation = kDeviationUntimed * std::sqrt(kPriorOfPlace / weights);
  const double work_ns = it.work_ns * std::exp(fitted_.mean + fitted_.config_effects[config] +
                                               size_effect + sum / weights + kCaution * deviation);
  return {.ns = it.fixed_ns + work_ns, .error = deviation * work_ns / (it.fixed_ns + work_ns)};
}

ExpectedTime CostModel::expected(std::size_t config, const LaunchShape& shape,
                                 const space::Size& size) const {
  return expected(config, shape, size, size_effect(size));
}

}  // namespace tuner::select
