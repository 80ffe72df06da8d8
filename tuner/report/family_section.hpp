// SPDX-License-Identifier: Apache-2.0
// The first part of the page: which kernel of a family to use at which size, and what to do next.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/importance.hpp"

#include <span>

namespace tuner::report {

/// The highest rates measured on a device, in work per nanosecond; 0 where there is no such work.
struct Roofs {
  double flops = 0, bytes = 0;
};
[[nodiscard]] Roofs roofs_of(std::span<const KernelHistory> kernels);

/// One family: its verdict, the wins of each kernel, what to do next, and a row for each size with
/// the ratio of every kernel. `kernels` are all of the family.
[[nodiscard]] Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs);

/// Which parameters of a kernel decide over all sizes of known importance.
[[nodiscard]] Json importance_over_sizes(const KernelHistory& kernel,
                                         std::span<const Importances> of_sizes);

}  // namespace tuner::report
