// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

#include <memory>
#include <span>
#include <vector>

namespace tuner::session {

/// The space of a kernel at each of the sizes, in their order, enumerated on all processors: at a
/// large kernel each takes a second. Throws as Space does, for the first size that cannot be
/// enumerated.
[[nodiscard]] std::vector<space::Space> spaces_at(
    const std::shared_ptr<const space::SpaceDefinition>& definition,
    const space::DeviceAttributes& device, std::span<const space::Size> sizes);

}  // namespace tuner::session
