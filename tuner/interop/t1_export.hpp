// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tuner::interop {

/// A kernel of a space file as a T1 description (schema 1.0.0) for one device and problem size: its
/// dimensions and the device's attributes become numbers, derived values are written out. An
/// inactive parameter (`when`) becomes the condition that it has its default. `text` is the space
/// file, which is valid; `folder` leads from the T1 file to the folder of the space file. Throws
/// Error(usage) for an expression that Python cannot say and for types that T1 does not have.
[[nodiscard]] std::string export_t1(std::string_view text, const std::string& kernel,
                                    const space::SpaceDefinition& definition,
                                    const space::DeviceAttributes& device,
                                    std::span<const std::int64_t> size,
                                    const std::filesystem::path& folder);

}  // namespace tuner::interop
