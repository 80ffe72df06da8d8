// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tuner::verify {

/// The elements of an array that NumPy saved (numpy.lib.format, version 1 to 3), in C order, for an
/// argument of the family that has `count` elements at `size`. `file` is relative to the space
/// file. Throws Error(usage) when family::npy_file refuses it, it cannot be read, or has another
/// type or another number of elements.
[[nodiscard]] std::vector<std::byte> read_npy(const family::Family& family, std::string_view file,
                                              std::string_view argument, family::ElementType type,
                                              std::int64_t count, const space::Size& size);

}  // namespace tuner::verify
