// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <string>
#include <vector>

namespace tuner::family {

/// A sentence on each __constant__ variable that a source uses without an initial value, and that
/// no argument of its kernels writes: it is zero in every launch.
[[nodiscard]] std::vector<std::string> constant_memory_cautions(const Family& family);

}  // namespace tuner::family
