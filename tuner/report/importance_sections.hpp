// SPDX-License-Identifier: Apache-2.0
// The parts of the page that say which parameters decide: at one size, and over all of them.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/importance.hpp"

namespace tuner::report {

/// Which parameters decide at a size? The share of the variance of log time that each explains.
[[nodiscard]] Json importance_section(const KernelHistory& kernel, const SizeHistory& size,
                                      const Importances& ranked);

/// Which parameters of a kernel decide within its sizes, and how far that differs from size to
/// size?
[[nodiscard]] Json importance_over_sizes(const KernelHistory& kernel,
                                         const KernelImportances& ranked);

/// Where does which parameter decide? The shares of all parameters, size by size.
[[nodiscard]] Json importance_by_size(const KernelHistory& kernel, const KernelImportances& ranked);

}  // namespace tuner::report
