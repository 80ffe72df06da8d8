// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_library.hpp"

#include "tuner/backend/cpu/host_geam.hpp"
#include "tuner/backend/cpu/host_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <variant>

namespace tuner::backend {
namespace {

/// The number is of this way of naming algorithms.
constexpr const char* kLoops = "host/1/loops";
constexpr std::int64_t kMostProductsOfLoops = std::int64_t{1} << 18;

}  // namespace

std::vector<std::string> host_library_algorithms(const family::LibraryOperation& operation) {
  const auto* const shape = std::get_if<family::GemmShape>(&operation.shape);
  // Of bytes the library itself is loops.
  if (shape == nullptr || !operation.epilogue.is_none() ||
      operation.type == family::ElementType::s8)
    return {};
  if (shape->batch * shape->m * shape->n >
      kMostProductsOfLoops / std::max<std::int64_t>(shape->k, 1))
    return {};
  return {kLoops};
}

Expected<void, Failure> run_host_library(const family::LibraryOperation& operation,
                                         const MatrixOperands& operands,
                                         const std::string& algorithm) {
  const auto* const shape = std::get_if<family::GemmShape>(&operation.shape);
  if (shape == nullptr || algorithm != kLoops) {
    return Unexpected(
        Failure{Outcome::launch_error,
                fmt::format("'{}' is no algorithm of the host's library", algorithm)});
  }
  return host_gemm_by_loops(operation, *shape, operands);
}

Expected<void, Failure> run_host_library(const family::LibraryOperation& operation,
                                         const MatrixOperands& operands) {
  if (!operation.epilogue.is_none()) {
    return Unexpected(
        Failure{Outcome::launch_error, "the host's library has no bias, activation or residual"});
  }
  if (const auto* const shape = std::get_if<family::GemmShape>(&operation.shape)) {
    return host_gemm(operation, *shape, operands);
  }
  return host_geam(operation.type, std::get<family::GeamShape>(operation.shape), operands);
}

}  // namespace tuner::backend
