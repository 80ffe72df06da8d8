// SPDX-License-Identifier: Apache-2.0
// How long a configuration will take at a size at which it was never timed
// (docs/reference/selection.md).
#pragma once

#include "tuner/select/known.hpp"
#include "tuner/select/launch_shape.hpp"

#include <cstddef>
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
struct LaunchCost {
  double fixed_ns = 0;  ///< whatever the configuration
  double work_ns = 0;   ///< what a configuration is more or less efficient at
};
[[nodiscard]] LaunchCost cost(const LaunchShape& shape, const CostParameters& parameters,
                              std::int64_t multiprocessors);

/// A time that a model expects.
struct ExpectedTime {
  double ns = 0;
  double error = 0;  ///< of ln ns, one standard deviation: how little is known of the configuration
};

/// |ln(a / b)| over the dimensions that the flops depend on, L2 norm.
[[nodiscard]] double log_distance(const space::Size& a, const space::Size& b,
                                  const StoredKernel& kernel);

/// What a fit found: with the kernel and the sizes it makes the same model again.
struct FittedCost {
  /// How far one time is from the physical part.
  struct Sample {
    std::size_t config = 0;
    std::size_t size = 0;
    std::string variant;  ///< LaunchShape::variant
    double residual = 0;  ///< ln of the time beyond the fixed part over the work, less the effects
    double weight = 1;    ///< how much of the time the work is, squared
  };

  CostParameters parameters;
  double mean = 0;                     ///< of the residuals before the effects
  std::vector<double> config_effects;  ///< of each configuration
  std::vector<double> size_effects;    ///< of each size
  std::vector<Sample> samples;         ///< by configuration
};

/// None where there is too little: fewer than 3 sizes, 12 times, or a kernel without a launch.
/// Deterministic.
[[nodiscard]] std::optional<FittedCost> fit_cost(const StoredKernel& kernel,
                                                 const space::DeviceAttributes& device,
                                                 std::span<const KnownSize> sizes,
                                                 std::span<const KnownConfig> configs);

/// The model of one kernel on one device: the physical part, and how far configurations and sizes
/// are from it in the times that there are. Reading it is safe from many threads.
class CostModel {
 public:
  /// Throws Error(usage) where what was fitted is not of these sizes.
  CostModel(StoredKernel kernel, const space::DeviceAttributes& device,
            std::span<const KnownSize> sizes, FittedCost fitted);

  /// A fitted model; none where there is too little for one (fit_cost).
  [[nodiscard]] static std::shared_ptr<const CostModel> fit(const StoredKernel& kernel,
                                                            const space::DeviceAttributes& device,
                                                            std::span<const KnownSize> sizes,
                                                            std::span<const KnownConfig> configs);

  /// How long a configuration, one of those that the model was fitted to, takes at a size where its
  /// launch has this shape.
  [[nodiscard]] ExpectedTime expected(std::size_t config, const LaunchShape& shape,
                                      const space::Size& size) const;
  /// The common factor by which launches at a size differ from the physical part; computed once
  /// for a size and handed in by callers that ask about many configurations.
  [[nodiscard]] double size_effect(const space::Size& size) const;
  [[nodiscard]] ExpectedTime expected(std::size_t config, const LaunchShape& shape,
                                      const space::Size& size, double size_effect) const;

  [[nodiscard]] const CostParameters& parameters() const { return fitted_.parameters; }
  [[nodiscard]] const FittedCost& fitted() const { return fitted_; }

 private:
  StoredKernel kernel_;
  std::int64_t multiprocessors_;
  std::vector<space::Size> sizes_;
  FittedCost fitted_;
  std::vector<std::size_t> first_sample_;  // of each configuration, and one past the last
};

}  // namespace tuner::select
