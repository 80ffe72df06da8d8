// SPDX-License-Identifier: Apache-2.0
// Which plan is the fastest: they are run side by side.
#pragma once

#include "tuner/dispatch/family_table.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tuner::dispatch {

/// The median time of each plan in nanoseconds, from a cold cache, in 3 to 9 rounds on buffers of
/// zeros with the numbers of the space file as arguments; none of a plan that cannot be launched.
/// `sections` are those of the plans' scratch memory. Fails when there is no memory for the
/// buffers, and with `crashed` when the device has failed.
[[nodiscard]] Expected<std::vector<std::optional<double>>, Failure> contest(
    backend::Executor& executor, ReadSections& sections, const FamilyTable& family,
    const SizeSlot& slot, std::span<const LaunchPlan> plans);

}  // namespace tuner::dispatch
