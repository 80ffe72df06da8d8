// SPDX-License-Identifier: Apache-2.0
// Module capture: one launch of a program, with the content of its buffers before and after, as a
// folder that `tune` tunes: a space file, sources and arrays.
//
// One launch of a kernel, with the content of its buffers before and after, as a folder that `tune`
// tunes: a space file, sources, and arrays in .npy files.
#pragma once

#include "tuner/core/element_type.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/source/source.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::capture {

/// The bytes of all buffers of a launch that are captured unless the user says more.
inline constexpr std::uint64_t kDefaultLimitBytes = std::uint64_t{4} << 30;

/// Throws Error(usage) naming the limit where a launch of `kernel` has buffers of more bytes.
void require_within(std::uint64_t bytes, std::uint64_t limit_bytes, std::string_view kernel);

/// A folder that the user alone may read, as may be every file in it. It has its name when it is
/// complete.
class CaptureFolder {
 public:
  /// Throws Error(usage) where there is something at `path`, Error(failure) where no folder can be
  /// made there.
  explicit CaptureFolder(std::filesystem::path path);
  ~CaptureFolder();  ///< Removes what is not complete.
  CaptureFolder(const CaptureFolder&) = delete;
  CaptureFolder& operator=(const CaptureFolder&) = delete;

  /// A kernel's source and headers; its path for the space file. Throws Error(usage) for a header
  /// outside of the source's folder.
  [[nodiscard]] std::string add_source(std::string_view kernel, const source::KernelSource& source);
  /// An array; its file's name for the space file.
  [[nodiscard]] std::string add_array(std::string_view name, ElementType type,
                                      std::span<const std::byte> elements);
  /// Writes the space file, gives the folder its name and returns the space file's path.
  [[nodiscard]] std::filesystem::path finish(const Json& space);

 private:
  void write(const std::filesystem::path& name, std::string_view header,
             std::span<const std::byte> content) const;

  std::filesystem::path path_, part_;
};

/// The tolerance of an output as a space file has it, from the type and the size of its elements;
/// null for a type whose numbers are compared for equality.
[[nodiscard]] Json tolerance_of(ElementType type, std::span<const std::byte> elements);

}  // namespace tuner::capture
