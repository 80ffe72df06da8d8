// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <vector>

namespace tuner::session {

/// The sizes of a kernel that have results which ended `ok`, of this kernel hash, check, device and
/// environment, but no final round: the run was ended before it.
[[nodiscard]] std::vector<space::Size> screened_sizes(const store::Store& store,
                                                      const family::Family& family,
                                                      const family::Kernel& kernel,
                                                      const space::DeviceInfo& device,
                                                      const space::EnvironmentInfo& environment);

}  // namespace tuner::session
