// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/cost_model.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tuner::select {
namespace {

/// The standard deviations of ln time from the physical part, as they are of kernels that multiply
/// matrices; the times themselves scale them.
constexpr double kDeviationOfAll = 0.3;       ///< of all times alike
constexpr double kDeviationOfSizes = 0.2;     ///< of all configurations at a size
constexpr double kDeviationOfConfigs = 0.25;  ///< of configurations with like parameters
constexpr double kDeviationOfPlaces = 0.25;   ///< of the same at a size
constexpr double kDeviationOfOne = 0.05;      ///< of a single configuration at a size
constexpr double kNoiseOfTimes = 0.045;       ///< of a single time
/// How many times the assumption counts that they are so.
constexpr double kPriorOfScale = 20;

/// Sizes this far apart, in ln, have little in common: of the first, which falls from the first
/// step on, and of the second, which is smooth.
constexpr double kReachOfSizes = 7;
constexpr double kReachOfPlaces = 2.2;
/// Configurations of which this share of the parameters is a step apart.
constexpr double kReachOfConfigs = 0.5;
/// What a time of other code counts, such as with narrower accesses where rows are not aligned, and
/// of another kind of problem, such as another type.
constexpr double kLikenessOfOtherCode = 0.7;
constexpr double kLikenessOfOtherKind = 0.5;

/// More times tell little more, and the work grows by their cube.
constexpr std::size_t kMostTimes = 192;

constexpr double kCaution = 0.5;  // deviations

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

/// A number for each parameter, of which a doubling is a step; for each word of a parameter half a
/// step.
std::vector<double> coordinates(const space::SpaceDefinition& definition,
                                const space::Config& config) {
  std::vector<double> result;
  for (std::size_t i = 0; i < definition.parameters.size(); ++i) {
    const space::Parameter& parameter = definition.parameters[i];
    const std::uint32_t choice = config.choice[i];
    if (parameter.value_kind == space::ValueKind::word) {
      for (std::size_t word = 0; word < parameter.values.size(); ++word) {
        result.push_back(word == choice ? 0.5 : 0);
      }
    } else {
      const auto number = static_cast<double>(parameter.values[choice].number);
      result.push_back(std::copysign(std::log2(1 + std::abs(number)), number));
    }
  }
  return result;
}

double distance_between(const std::vector<double>& a, const std::vector<double>& b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

double steps(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}

}  // namespace

double physical_ns(const LaunchShape& shape, const CostParameters& p,
                   std::int64_t multiprocessors) {
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
  return p.fixed_ns + (shape.scratch ? p.scratch_ns : 0) +
         largest * std::pow(part(compute) + part(memory) + part(share), 1 / p.sharpness);
}

double ExpectedTime::cautious_ns() const {
  return ns * std::exp(kCaution * error);
}

CostModel::CostModel(RankedKernel kernel, const space::DeviceAttributes& device,
                     std::span<const KnownSize> sizes, std::span<const KnownConfig> configs,
                     FittedCost fitted)
    : kernel_(std::move(kernel)), multiprocessors_(device.sm_count), fitted_(std::move(fitted)) {
  for (const KnownSize& size : sizes) sizes_.push_back(size_place(size.numbers));
  for (const KnownConfig& it : configs) {
    coordinates_.push_back(it.config ? coordinates(kernel_.definition(), *it.config)
                                     : std::vector<double>());
  }
  for (const FittedCost::Sample& sample : fitted_.samples) {
    if (sample.config >= configs.size() || !configs[sample.config].config ||
        sample.size >= sizes_.size()) {
      refuse_fit();
    }
    const auto [at, added] = variants_.try_emplace(sample.variant, variants_.size());
    sample_variants_.push_back(at->second);
  }
  const auto varying = std::ranges::count_if(kernel_.definition().parameters,
                                             [](const auto& it) { return it.values.size() > 1; });
  varying_parameters_ = static_cast<double>(std::max<std::ptrdiff_t>(1, varying));
}

std::shared_ptr<const CostModel> CostModel::fit(const RankedKernel& kernel,
                                                const space::DeviceAttributes& device,
                                                std::span<const KnownSize> sizes,
                                                std::span<const KnownConfig> configs) {
  auto fitted = fit_cost(kernel, device, sizes, configs);
  if (!fitted) return nullptr;
  return std::make_shared<const CostModel>(kernel, device, sizes, configs, *std::move(fitted));
}

CostModel::Place CostModel::place(std::size_t sample) const {
  const FittedCost::Sample& it = fitted_.samples[sample];
  return {.size = &sizes_[it.size], .config = it.config, .variant = sample_variants_[sample]};
}

std::size_t CostModel::variant_number(const std::string& variant) const {
  const auto found = variants_.find(variant);
  return found == variants_.end() ? variants_.size() : found->second;
}

CostModel::SizePlace CostModel::size_place(const space::Size& size) const {
  SizePlace place;
  for (const std::size_t slot : kernel_.flops().slots()) {
    const std::size_t dimension = slot - space::attribute_fields().size();
    if (kernel_.dims()[dimension].is_kind()) continue;
    place.logarithms.push_back(std::log(static_cast<double>(size[dimension])));
  }
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (kernel_.dims()[i].is_kind()) place.kinds.push_back(size[i]);
  }
  return place;
}

double CostModel::covariance(const Place& a, const Place& b) const {
  const auto variance = [](double deviation) { return deviation * deviation; };
  const double distance = distance_between(a.size->logarithms, b.size->logarithms);
  const double place = std::exp(-variance(distance / kReachOfPlaces) / 2) *
                       (a.variant == b.variant ? 1 : kLikenessOfOtherCode);
  const double likeness = std::exp(-steps(coordinates_[a.config], coordinates_[b.config]) /
                                   (kReachOfConfigs * varying_parameters_));
  const double own = a.config == b.config ? variance(kDeviationOfOne) : 0;
  return (a.size->kinds == b.size->kinds ? 1 : kLikenessOfOtherKind) *
         (variance(kDeviationOfAll) +
          variance(kDeviationOfSizes) * std::exp(-distance / kReachOfSizes) +
          variance(kDeviationOfConfigs) * likeness +
          (variance(kDeviationOfPlaces) * likeness + own) * place);
}

/// Those of the same kind before others.
std::vector<std::size_t> CostModel::nearest(const SizePlace& size) const {
  std::vector<std::pair<bool, double>> distances;
  for (const SizePlace& it : sizes_) {
    distances.emplace_back(it.kinds != size.kinds,
                           distance_between(size.logarithms, it.logarithms));
  }
  std::vector<std::size_t> samples(fitted_.samples.size());
  std::iota(samples.begin(), samples.end(), std::size_t{0});
  std::ranges::stable_sort(
      samples, {}, [&](std::size_t sample) { return distances[fitted_.samples[sample].size]; });
  samples.resize(std::min(kMostTimes, samples.size()));
  return samples;
}

CostModel::AtSize::AtSize(const CostModel& model, const space::Size& size)
    : model_(model),
      size_(model.size_place(size)),
      near_(model.nearest(size_)),
      triangle_(near_.size(), [&](std::size_t i, std::size_t j) {
        return model.covariance(model.place(near_[i]), model.place(near_[j])) +
               (i == j ? kNoiseOfTimes * kNoiseOfTimes : 0);
      }) {
  double sum = 0;
  for (const std::size_t sample : near_) sum += model.fitted_.samples[sample].residual;
  const auto count = static_cast<double>(near_.size());
  mean_ = sum / count;
  std::vector<double> rest;
  for (const std::size_t sample : near_) {
    rest.push_back(model.fitted_.samples[sample].residual - mean_);
  }
  beyond_mean_ = triangle_.solve(rest);
  scale_ = (kPriorOfScale + dot(beyond_mean_, beyond_mean_)) / (kPriorOfScale + count);
}

ExpectedTime CostModel::AtSize::expected(std::size_t config, const LaunchShape& shape) const {
  const Place asked{
      .size = &size_, .config = config, .variant = model_.variant_number(shape.variant)};
  std::vector<double> common;
  for (const std::size_t sample : near_) {
    common.push_back(model_.covariance(model_.place(sample), asked));
  }
  const std::vector<double> weights = triangle_.solve(common);
  const double unknown = std::max(0.0, model_.covariance(asked, asked) - dot(weights, weights)) +
                         kNoiseOfTimes * kNoiseOfTimes;
  const double ln_residual = mean_ + dot(weights, beyond_mean_);
  return {.ns = physical_ns(shape, model_.fitted_.parameters, model_.multiprocessors_) *
                std::exp(ln_residual),
          .error = std::sqrt(scale_ * unknown)};
}

}  // namespace tuner::select
