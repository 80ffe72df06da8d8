// SPDX-License-Identifier: Apache-2.0
// Who takes part at one shape, and the operands that they multiply.
#pragma once

#include "benchmarks/gemm/gpu.hpp"
#include "benchmarks/gemm/result.hpp"
#include "benchmarks/gemm/shape.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace tuner::gemm_benchmark {

/// Puts the product of one set of operands on the stream.
using LaunchOn = std::function<Expected<void, Failure>(std::size_t set)>;

/// Who takes part at one shape.
struct Contender {
  Role role = Role::ours;
  std::string kernel;  ///< empty: to be learnt from what it launches
  LaunchOn launch;
  /// Makes ready what the launches of one graph need for themselves; called before each capture.
  std::function<void()> before_capture = [] {};
};

/// Where the matrices of one launch begin.
struct OperandSet {
  std::byte *a, *b, *c;
};

/// Sets of operands on the device, full of normal numbers.
class Operands {
 public:
  /// Throws Error(failure) with the size asked for and the size free.
  Operands(Gpu& gpu, const Shape& shape, std::size_t sets);

  [[nodiscard]] std::size_t sets() const { return sets_; }
  [[nodiscard]] OperandSet set(std::size_t index) const;
  [[nodiscard]] std::size_t c_bytes() const { return c_bytes_; }

  /// Whether ours and the library agree on set 0: the largest difference as a share of what two
  /// results may differ by that each keep the error bound 4·u·√k·|A||B|. Above 1 one is wrong.
  /// Set 1 serves for |A||B|. There must be 2 sets. Throws Error(failure) when a launch fails.
  [[nodiscard]] double worst_difference(const LaunchOn& ours, const LaunchOn& library);

 private:
  void fill(std::size_t set);
  void begin_magnitudes();
  [[nodiscard]] double compare_with(const std::byte* result);

  Gpu& gpu_;
  Shape shape_;
  std::size_t sets_, b_at_ = 0, c_at_ = 0, set_bytes_ = 0, c_bytes_ = 0, offset_bytes_ = 0;
  backend::DeviceMemory memory_;
};

}  // namespace tuner::gemm_benchmark
