// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/verify/memory_plan.hpp"

#include <string>

namespace tuner::verify {

/// "wrote C[42], beyond the end of its 42 elements; 1 word of the guard zone changed": what the
/// report on a guard zone, a part of the plan, says of the buffer nearest to what changed.
[[nodiscard]] std::string overrun_text(const MemoryPlan& plan, const CheckPart& guard,
                                       const PartReport& report);

}  // namespace tuner::verify
