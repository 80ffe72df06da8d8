// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"

#include <cstdint>
#include <optional>

namespace tuner {

/// Operations that one multiprocessor of a GPU can finish in a cycle: twice the multiply-adds of
/// NVIDIA's architecture white papers.
struct FlopRates {
  std::int64_t compute_capability;  ///< 90 for 9.0
  double f32, f64;                  ///< f64: with tensor cores where they have it
  /// Of tensor cores, dense: of inputs of 19, 16 and 8 bits; 0 without.
  double tf32, of_16_bits, of_8_bits;
};

/// Null for a compute capability that is not in the white papers yet.
[[nodiscard]] const FlopRates* flop_rates(std::int64_t compute_capability);

/// The rate that is called the peak of a type: of its own units or its tensor cores. None for
/// integers of more than 8 bits, which no white paper gives.
[[nodiscard]] std::optional<double> nominal_flops_per_cycle(std::int64_t compute_capability,
                                                            ElementType type);

}  // namespace tuner
