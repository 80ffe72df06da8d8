// SPDX-License-Identifier: Apache-2.0
// The first part of the page: which kernel of a family to use at which size, and what to do next.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/roofs.hpp"

#include <span>

namespace tuner::report {

/// One family: its verdict and the wins of each kernel by element type, what to do next, and a row
/// for each size with the ratio of every kernel. `kernels` are all of the family.
[[nodiscard]] Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs);

}  // namespace tuner::report
