// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

namespace tuner::search {

/// Two parameters of six values each, tied together; some twenty configurations.
[[nodiscard]] space::Space example_space();

/// So many parameters of so many values 1, 2, 3, …, all combinations valid.
[[nodiscard]] space::Space free_space(int parameters, int values);

}  // namespace tuner::search
