// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/interop/recording.hpp"
#include "tuner/store/store.hpp"

#include <vector>

namespace tuner::interop {

/// What our own runs measured, as recordings: one for every device, kernel and problem size that
/// match, the one used last first. Of a kernel only the version of its source that ran last counts,
/// of a configuration the latest trial; the cost is compiling, verifying and measuring. Values that
/// the space file has no longer are left out with their trials. Throws as Store's methods do, and
/// Error(failure) when a stored space file is none.
[[nodiscard]] std::vector<Recording> read_recordings(const store::Store& store,
                                                     const store::ResultFilter& filter);

}  // namespace tuner::interop
