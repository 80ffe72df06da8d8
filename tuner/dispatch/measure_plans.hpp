// SPDX-License-Identifier: Apache-2.0
// Choosing by timing at run time.
#pragma once

#include "tuner/dispatch/family_table.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tuner::dispatch {

/// The median time of each plan in nanoseconds, from a cold cache, in 3 to 9 rounds on random
/// numbers (zeros where the space file asks for other inputs, such as indices), with the numbers of
/// the space file as arguments; none of a plan that cannot be launched.
/// `reclaimer` is that of the plans' scratch memory. Fails when there is no memory for the
/// buffers, and with `crashed` when the device has failed.
[[nodiscard]] Expected<std::vector<std::optional<double>>, Failure> measure_plans(
    backend::Executor& executor, EpochReclaimer& reclaimer, const FamilyTable& family,
    const SizeSlot& slot, std::span<const LaunchPlan> plans);

}  // namespace tuner::dispatch
