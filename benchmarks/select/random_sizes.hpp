// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/gemm/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

/// Different plain products, each dimension log-uniform from 16 to 8192. The same for the same
/// seed, and the first ones the same for any count.
[[nodiscard]] std::vector<Shape> random_shapes(std::size_t count, std::uint64_t seed);

/// A suite of two groups: "regret", the first 20, which are tuned to see what the choice costs, and
/// "others".
constexpr std::size_t kRegretSizes = 20;
[[nodiscard]] std::string random_suite(std::span<const Shape> shapes, std::uint64_t seed);

}  // namespace tuner::gemm_benchmark
