// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/diagram.hpp"
#include "tuner/space/space.hpp"

#include <cstdint>

namespace tuner::space {

/// Tied parameters, and how many positions one step from path to path of their diagram spans.
struct Space::Group {
  Diagram diagram;
  std::uint64_t weight = 1;
};

}  // namespace tuner::space
