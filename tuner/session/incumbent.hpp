// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <optional>

namespace tuner {

/// What was best before for a kernel at a size on this device model, whatever the driver and the
/// version of the source; none when there is no such thing or the space no longer has its values.
[[nodiscard]] std::optional<Config> incumbent(const Store& store, const Family& family,
                                              const Kernel& kernel, const DeviceInfo& device,
                                              const Size& size);

}  // namespace tuner
