// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <optional>
#include <vector>

namespace tuner::session {

/// What was best before for a kernel at a size on this device model, whatever the driver and the
/// version of the source; none when there is no such thing or the space no longer has its values.
[[nodiscard]] std::optional<space::Config> incumbent(const store::Store& store,
                                                     const family::Family& family,
                                                     const family::Kernel& kernel,
                                                     const space::DeviceInfo& device,
                                                     const space::Size& size);

/// What won for a kernel at this very size on other device models of this kind, the newest first,
/// each once. Whatever the driver and the version of the source, as above.
[[nodiscard]] std::vector<space::Config> winners_on_other_devices(const store::Store& store,
                                                                  const family::Family& family,
                                                                  const family::Kernel& kernel,
                                                                  const space::DeviceInfo& device,
                                                                  const space::Size& size);

/// What won for a kernel at any size on devices of this kind, at most eight configurations, each
/// once: those of this device model first, then by how near the size is. Whatever the driver and
/// the version of the source; configurations that the space no longer has are left out.
[[nodiscard]] std::vector<space::Config> winners_elsewhere(const store::Store& store,
                                                           const family::Family& family,
                                                           const family::Kernel& kernel,
                                                           const space::DeviceInfo& device,
                                                           const space::Size& size);

}  // namespace tuner::session
