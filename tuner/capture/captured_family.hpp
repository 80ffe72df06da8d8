// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"
#include "tuner/family/family.hpp"
#include "tuner/space/size.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tuner::capture {

/// A buffer, or an array by value, as a launch has it.
struct CapturedArray {
  ElementType type = ElementType::f32;
  std::vector<std::byte> before;
  std::vector<std::byte> after = {};  ///< of what a kernel writes
};

/// A launch of a family's kernel.
struct FamilyLaunch {
  space::Size size;
  std::map<std::string, CapturedArray> arrays;  ///< by the names of arguments
  std::map<std::string, double> reals;          ///< given numbers of floating-point types
  std::map<std::string, std::int64_t> integers;
};

/// Writes the folder and returns its space file: that of the family at this size alone, whose
/// inputs and right results are those of the launch. It has the kernels of `kernels`. Throws
/// Error(usage) where `folder` exists or a kernel cannot be stored, Error(failure) where it cannot
/// be written.
[[nodiscard]] std::filesystem::path write_capture(const std::filesystem::path& folder,
                                                  const family::Family& family,
                                                  const std::vector<const family::Kernel*>& kernels,
                                                  const FamilyLaunch& launch);

}  // namespace tuner::capture
