// SPDX-License-Identifier: Apache-2.0
// The first part of the page: which kernel of a family to use at which size, and what to do next.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/family_rows.hpp"
#include "tuner/report/history.hpp"
#include "tuner/report/roofs.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::report {

/// What to do next about the sizes of a family, of one element type or, where that is empty, of
/// all: `[{"type","text","commands","note","show"}]`. `note` says of which sizes the commands are
/// where they are not of all; `show` is how the table shows those sizes: its filter of states,
/// empty for none, and the column that sorts it, the lowest first.
[[nodiscard]] Json to_do(const std::vector<Row>& rows, std::string_view type, const Roofs& roofs,
                         const std::string& library);

/// One family: its verdict and the wins of each kernel by element type, what to do next, and a row
/// for each size with the ratio of every kernel. `kernels` are all of the family.
[[nodiscard]] Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs);

}  // namespace tuner::report
