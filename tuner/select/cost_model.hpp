// SPDX-License-Identifier: Apache-2.0
// How long a configuration will take at a size at which it was never timed
// (docs/reference/selection.md).
#pragma once

#include "tuner/select/known.hpp"
#include "tuner/select/launch_shape.hpp"
#include "tuner/select/triangle.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::select {

/// The physical part, common to all configurations of a kernel:
/// time = fixed + scratch + (compute^p + memory^p + share^p)^(1/p), where compute is what the
/// busiest multiprocessor has to do, memory the bytes of all, share the bytes of the busiest one.
struct CostParameters {
  double fixed_ns = 0;         ///< of any launch
  double scratch_ns = 0;       ///< of blocks that hand results to each other
  double flops_per_ns = 1;     ///< of a multiprocessor with warps enough
  double half_warps = 2;       ///< warps of a multiprocessor that reach half of that
  double bytes_per_ns = 1;     ///< of the device
  double sm_bytes_per_ns = 1;  ///< of a multiprocessor with warps enough
  double sharpness = 2;        ///< the p above: how little the smaller of the three counts
};

/// The physical part of one launch.
[[nodiscard]] double physical_ns(const LaunchShape& shape, const CostParameters& parameters,
                                 std::int64_t multiprocessors);

/// A time that a model expects.
struct ExpectedTime {
  double ns = 0;     ///< as probably too long as too short
  double error = 0;  ///< of ln ns, one standard deviation

  /// Longer, the less is known: of many configurations, the one that looks best is often one of
  /// which little is known.
  [[nodiscard]] double cautious_ns() const;
};

/// What a fit found: with the kernel, its sizes and configurations it makes the same model again.
struct FittedCost {
  /// How far one time is from the physical part.
  struct Sample {
    std::size_t config = 0;
    std::size_t size = 0;
    std::string variant;  ///< LaunchShape::variant
    double residual = 0;  ///< ln of the time over its physical part
  };

  CostParameters parameters;
  std::vector<Sample> samples;
};

/// None where there is too little: fewer than 3 sizes, 12 times, or a kernel without a launch.
/// Deterministic.
[[nodiscard]] std::optional<FittedCost> fit_cost(const RankedKernel& kernel,
                                                 const space::DeviceAttributes& device,
                                                 std::span<const KnownSize> sizes,
                                                 std::span<const KnownConfig> configs);

/// The model of one kernel on one device: the physical part, and a Gaussian process through the
/// times that there are, over sizes and parameters. Reading it is safe from many threads.
class CostModel {
  /// A size as the process sees it.
  struct SizePlace {
    std::vector<double> logarithms;   // of the dimensions that the flops depend on
    std::vector<std::int64_t> kinds;  // numbers of the others that make it another kind of problem
  };
  /// What decides how much two times have in common.
  struct Place {
    const SizePlace* size;
    std::size_t config;
    std::size_t variant;
  };

 public:
  /// Throws Error(usage) where what was fitted is not of these sizes and configurations.
  CostModel(RankedKernel kernel, const space::DeviceAttributes& device,
            std::span<const KnownSize> sizes, std::span<const KnownConfig> configs,
            FittedCost fitted);

  /// A fitted model; none where there is too little for one (fit_cost).
  [[nodiscard]] static std::shared_ptr<const CostModel> fit(const RankedKernel& kernel,
                                                            const space::DeviceAttributes& device,
                                                            std::span<const KnownSize> sizes,
                                                            std::span<const KnownConfig> configs);

  /// What the times near one size tell; it refers to the model.
  class AtSize {
   public:
    AtSize(const CostModel& model, const space::Size& size);

    /// How long a configuration, one of those that the model was fitted to, takes where its launch
    /// has this shape.
    [[nodiscard]] ExpectedTime expected(std::size_t config, const LaunchShape& shape) const;

   private:
    const CostModel& model_;
    SizePlace size_;
    std::vector<std::size_t> near_;    // samples
    Triangle triangle_;                // of their covariances
    double mean_;                      // of their residuals
    std::vector<double> beyond_mean_;  // L⁻¹ times the rest of them
    double scale_;                     // how much more they differ than was assumed, squared
  };

  [[nodiscard]] const CostParameters& parameters() const { return fitted_.parameters; }
  [[nodiscard]] const FittedCost& fitted() const { return fitted_; }

 private:
  [[nodiscard]] SizePlace size_place(const space::Size& size) const;
  [[nodiscard]] Place place(std::size_t sample) const;
  [[nodiscard]] std::vector<std::size_t> nearest(const SizePlace& size) const;
  [[nodiscard]] double covariance(const Place& a, const Place& b) const;
  [[nodiscard]] std::size_t variant_number(const std::string& variant) const;

  RankedKernel kernel_;
  std::int64_t multiprocessors_;
  std::vector<SizePlace> sizes_;
  FittedCost fitted_;
  std::vector<std::vector<double>> coordinates_;  // of each configuration
  std::map<std::string, std::size_t> variants_;   // numbered
  std::vector<std::size_t> sample_variants_;      // of each sample
  double varying_parameters_ = 1;
};

}  // namespace tuner::select
