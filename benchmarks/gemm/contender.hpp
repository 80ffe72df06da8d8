// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/result.hpp"
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

}  // namespace tuner::gemm_benchmark
