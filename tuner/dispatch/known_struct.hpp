// SPDX-License-Identifier: Apache-2.0
// Structs of the C interface between a program and a library of different versions.
#pragma once

#include "tuner/dispatch/dispatcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace tuner::dispatch {

/// Larger than any struct will be: more is a `struct_size` that was never set.
inline constexpr std::size_t kMostStructBytes = 4096;

/// Throws DispatchError where no version of a struct has this size. `what` names where it was said.
inline void check_struct_size(std::size_t size, const char* what) {
  if (size >= sizeof(std::size_t) && size <= kMostStructBytes) return;
  throw DispatchError(fmt::format("{} is {}: set it to the sizeof of the struct", what, size));
}

/// What the caller gave, itself or in `copy`: an older program's with zeros behind it, a newer
/// program's without what this library does not have. Throws DispatchError where that is not 0.
template <class Struct>
[[nodiscard]] const Struct& known_struct(const Struct& given, Struct& copy, const char* what) {
  const std::size_t size = given.struct_size;
  if (size == sizeof(Struct)) return given;
  check_struct_size(size, what);
  copy = {};
  std::memcpy(&copy, &given, std::min(size, sizeof(Struct)));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  if (size > sizeof(Struct) && std::any_of(bytes + sizeof(Struct), bytes + size,
                                           [](unsigned char byte) { return byte != 0; })) {
    throw DispatchError(
        fmt::format("{} is {}, of a newer version than this library, and a member is set that the "
                    "library does not have: install the newer libtuner_dispatch.so",
                    what, size));
  }
  return copy;
}

/// Writes as much as the caller's struct holds, and zeros into what this library does not have.
template <class Struct>
void give_struct(const Struct& value, Struct& to, const char* what) {
  const std::size_t size = to.struct_size;
  check_struct_size(size, what);
  std::memcpy(&to, &value, std::min(size, sizeof(Struct)));
  if (size > sizeof(Struct)) {
    std::memset(reinterpret_cast<unsigned char*>(&to) + sizeof(Struct), 0, size - sizeof(Struct));
  }
  to.struct_size = size;
}

/// An array that is shown to the caller in elements of the caller's size.
template <class Struct>
class ShownArray {
 public:
  /// Valid until the next call.
  [[nodiscard]] const Struct* show(std::vector<Struct> elements, std::size_t element_size) {
    check_struct_size(element_size, "element_size");
    elements_ = std::move(elements);
    if (element_size == sizeof(Struct)) return elements_.data();
    if (element_size % alignof(Struct) != 0) {
      throw DispatchError(
          fmt::format("element_size is {}, no multiple of {}", element_size, alignof(Struct)));
    }
    bytes_.assign(elements_.size() * element_size, {});
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      std::memcpy(bytes_.data() + i * element_size, &elements_[i],
                  std::min(element_size, sizeof(Struct)));
    }
    return reinterpret_cast<const Struct*>(bytes_.data());
  }

 private:
  std::vector<Struct> elements_;
  std::vector<std::byte> bytes_;  // from operator new: aligned for every struct
};

}  // namespace tuner::dispatch
