// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/call_addresses.hpp"

#include <string>
#include <vector>

namespace tuner::backend {

/// An operation of the host's library, done on return: a product by OpenBLAS, a sum of matrices by
/// loops of our own, since CBLAS has none. launch_error for a type that is neither f32 nor f64;
/// throws Error(failure) for a size that OpenBLAS cannot take, and what check_shape throws.
[[nodiscard]] Expected<void, Failure> run_host_library(const blas::Operation& operation,
                                                       const blas::Addresses& operands);

/// As Backend::library_algorithms: plain loops, for small products.
[[nodiscard]] std::vector<std::string> host_library_algorithms(const blas::Operation& operation);
/// Runs the operation by such an algorithm; launch_error for any other text.
[[nodiscard]] Expected<void, Failure> run_host_library(const blas::Operation& operation,
                                                       const blas::Addresses& operands,
                                                       const std::string& algorithm);

}  // namespace tuner::backend
