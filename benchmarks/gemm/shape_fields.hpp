// SPDX-License-Identifier: Apache-2.0
// A shape from its parts, whether they come from a suite or from the command line.
#pragma once

#include "benchmarks/gemm/shape.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace tuner::gemm_benchmark {

/// The dimensions that are given.
struct Fields {
  std::map<std::string, std::int64_t, std::less<>> numbers;  ///< by name
  std::string type = {};                                     ///< TYPE; empty: none
};

/// Those that are not given take their defaults. Calls `fail`, which is to throw, with what is
/// wrong: an unknown name, a missing one, a value out of range.
[[nodiscard]] Shape make_shape(const Fields& fields,
                               const std::function<void(const std::string&)>& fail);

}  // namespace tuner::gemm_benchmark
