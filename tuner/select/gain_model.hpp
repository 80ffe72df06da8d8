// SPDX-License-Identifier: Apache-2.0
// How much faster than the library a configuration is at a size at which neither was timed
// (docs/reference/selection.md).
#pragma once

#include "tuner/select/library_model.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::select {

/// A configuration beside the library, or what else stands for it, at a size at which both were
/// timed.
struct KnownGain {
  std::size_t size = 0;   ///< among the model's
  double ln_gain = 0;     ///< of the library's time to the configuration's
  double imbalance = 0;   ///< launch_imbalance
  double ln_by_work = 0;  ///< what their work alone lets expect of ln_gain (work_time.hpp)
};

/// Standard deviations of ln gain beside what work tells, and how far sizes (SizeFeatures) have
/// something in common: what made gains at left-out sizes most likely, work not told apart.
/// `portfolio_benchmark --fit` tells what makes them most likely now.
struct GainParameters {
  double trend = 0.3;  ///< smooth
  double reach_of_trend = 8;
  double rough = 0.5;  ///< different from the first step on
  double reach_of_rough = 10;
  double imbalance = 0.5;  ///< the effect of an imbalance of 1
  double noise = 0.04;     ///< of one gain
};

/// Gaussian processes through what is known at some sizes, of which those next to the asked one
/// count; all of one kind of problem. With nothing known, 0 with a large error.
class GainModel {
 public:
  GainModel(std::span<const SizeFeatures> sizes, const SizeFeatures& asked,
            const GainParameters& parameters = {});

  /// ln of a configuration's gain at the asked size, where its launch has this imbalance and work;
  /// `known` names a size once at most.
  [[nodiscard]] ExpectedRatio gain(std::span<const KnownGain> known, double imbalance,
                                   double ln_by_work) const;

  /// A value of which one at each size is known, which grows as powers of the dimensions, such as
  /// ln of the library's time.
  [[nodiscard]] ExpectedRatio power_law(std::span<const double> known) const;

 private:
  /// What two sizes have in common.
  struct Common {
    double trend = 0;  ///< of slow trends, at most 1
    double all = 0;    ///< covariance of gains, but for what the launches decide
  };
  [[nodiscard]] Common common(const SizeFeatures& a, const SizeFeatures& b) const;
  [[nodiscard]] const Common& between(std::size_t a, std::size_t b) const;  // b <= a

  GainParameters parameters_;
  SizeFeatures asked_;
  std::vector<std::size_t> order_;   // the sizes that count, the nearest first
  std::vector<std::size_t> places_;  // of each size among these; else their number
  std::vector<SizeFeatures> near_;   // of these
  std::vector<Common> between_;      // of these, by rows of a triangle
  std::vector<Common> to_asked_;     // of these
};

}  // namespace tuner::select
