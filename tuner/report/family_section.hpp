// SPDX-License-Identifier: Apache-2.0
// The first part of the page: which kernel of a family to use at which size.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/roofs.hpp"

#include <span>

namespace tuner::report {

/// One family: a row for each size with the ratio of every kernel, the roofs that its sizes stand
/// below and what reached them, and the files of imported results. `kernels` are all of the family.
[[nodiscard]] Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs);

}  // namespace tuner::report
