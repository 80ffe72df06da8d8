// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/dimensions.hpp"

#include <string_view>
#include <vector>

namespace tuner::cli {

/// "64:1024:64", or "64:4096:x2" to multiply: sizes whose dimensions without a default all have the
/// same number, from the first to the last. Throws Error(usage) for what is no such range, or has
/// more than 1,000 sizes.
[[nodiscard]] std::vector<space::Size> size_range(std::string_view text,
                                                  const space::Dimensions& dims);

}  // namespace tuner::cli
