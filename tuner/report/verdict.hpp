// SPDX-License-Identifier: Apache-2.0
// The sentences a reader takes away.
#pragma once

#include "tuner/report/metric.hpp"

#include <string>
#include <string_view>

namespace tuner::report {

/// "4096×4096×4096: gemm_shared runs at 25.1 TFLOP/s, 49.2 % of cuBLAS and 3.2× its default
/// configuration; 2 other finalists tie with it."
[[nodiscard]] std::string size_verdict(const KernelHistory& kernel, const SizeHistory& size,
                                       const Metric& metric);

/// The verdict of the largest size with a result, of several how the sizes range, and why the
/// kernel is unproven, where it is.
[[nodiscard]] std::string kernel_verdict(const KernelHistory& kernel, const Metric& metric);

/// What the library is called without its version: "cuBLAS 13.0.2" → "cuBLAS".
[[nodiscard]] std::string library_brand(std::string_view library_name);

/// An outcome in plain words: "did not compile".
[[nodiscard]] std::string_view in_words(Outcome outcome);

}  // namespace tuner::report
