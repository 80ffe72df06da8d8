// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/select/nearest.hpp"

#include <optional>
#include <vector>

namespace tuner::select {

/// The valid configurations of all kernels by expected time, what was proved right on this machine
/// before the rest; none where a kernel that has something of this kind of problem has no model.
[[nodiscard]] std::optional<Nearest> modelled_candidates(const std::vector<AskedKernel>& asked,
                                                         const space::DeviceAttributes& device);

}  // namespace tuner::select
