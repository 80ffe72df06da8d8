// SPDX-License-Identifier: Apache-2.0
// How a kernel stands at its sizes, in numbers, of which the page's script makes its verdicts.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/metric.hpp"

#include <string>
#include <string_view>

namespace tuner::report {

/// A size's best known time and rate, whether a final round confirmed it, and beside what; null
/// without a result.
[[nodiscard]] Json result_of(const SizeHistory& size, const Metric& metric);

/// The largest size with a result or, without any, the last one: {"label", "result"}.
[[nodiscard]] Json largest_result(const KernelHistory& kernel, const Metric& metric);

/// By element type, over its sizes: the lowest and the highest ratio to the library and gain over
/// the default, each null when fewer than two sizes know it.
[[nodiscard]] Json ranges_by_type(const KernelHistory& kernel);

/// What the library is called without its version: "cuBLAS 13.0.2" → "cuBLAS".
[[nodiscard]] std::string library_brand(std::string_view library_name);

}  // namespace tuner::report
