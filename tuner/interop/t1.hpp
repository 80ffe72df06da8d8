// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/device.hpp"
#include "tuner/space/space.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::interop {

/// A space file made of a T1 description, and what a person has to look at: what T1 does not say or
/// space/1 cannot.
struct ImportedSpace {
  std::string text;
  std::vector<std::string> notes;
};

/// Translates a T1 file (schema 1.0.0). Parameters become defines, Conditions constraints, both
/// parsed and never evaluated as Python. The dimensions are called as Kernel Tuner calls them,
/// problem_size_x, …. A default that breaks a condition gives way to the valid configuration that
/// differs in the fewest parameters, on `device`. `folder` leads from the space file to the folder
/// of the T1 file. Throws Error(usage) with `origin` and the place for a file that is no T1, a
/// value that space/1 does not have (a fraction, say) and a condition that its expressions cannot
/// say; Error(no_valid_config) when the conditions leave nothing.
[[nodiscard]] ImportedSpace import_t1(std::string_view text, std::string_view origin,
                                      const std::filesystem::path& folder,
                                      const space::DeviceAttributes& device);

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
