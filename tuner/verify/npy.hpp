// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/family/family.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace tuner::verify {

/// An array that NumPy saved (numpy.lib.format, version 1 to 3), in C order, for an argument of the
/// family that has `count` elements at `size`.
class NpyFile {
 public:
  /// Reads the header. `file` is relative to the space file. Throws Error(usage) when
  /// family::npy_file refuses it, it cannot be read, or has another type or another number of
  /// elements.
  NpyFile(const family::Family& family, std::string_view file, std::string_view argument,
          family::ElementType type, std::int64_t count, const space::Size& size);

  /// Writes the elements to memory of a device, a piece at a time. Throws Error(usage) when the
  /// file cannot be read or was changed since.
  void copy_to(backend::Backend& backend, backend::Region to) const;

 private:
  std::filesystem::path path_;
  std::size_t begin_ = 0, size_bytes_ = 0;  // of the elements
};

}  // namespace tuner::verify
