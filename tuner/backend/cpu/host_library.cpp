// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_library.hpp"

#include "tuner/backend/cpu/host_geam.hpp"
#include "tuner/backend/cpu/host_gemm.hpp"

#include <variant>

namespace tuner::backend {

Expected<void, Failure> run_host_library(const family::LibraryOperation& operation,
                                         const MatrixOperands& operands) {
  if (const auto* const shape = std::get_if<family::GemmShape>(&operation.shape)) {
    return host_gemm(operation, *shape, operands);
  }
  return host_geam(operation.type, std::get<family::GeamShape>(operation.shape), operands);
}

}  // namespace tuner::backend
