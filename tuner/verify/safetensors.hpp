// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/element_type.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {

/// What safetensors files call a type: "F32", "BF16", "F8_E4M3", "U8"; tf32 is float in memory.
[[nodiscard]] std::string safetensors_name(ElementType type);

/// Elements in memory, as an interface between programs names them.
struct NamedArray {
  std::string name;
  std::string type;  ///< as safetensors_name gives it
  std::int64_t count = 0;
  bool is_scalar = false;  ///< of no dimension; else of one
  std::vector<std::byte> bytes;
};

/// The content of a safetensors file: arrays in C order by their names, and texts.
struct Safetensors {
  std::map<std::string, std::string> metadata;
  std::vector<NamedArray> arrays;

  /// Null where there is none of that name.
  [[nodiscard]] const NamedArray* find(std::string_view name) const;
};

/// Throws Error(failure) naming the path when it cannot be written.
void write_safetensors(const std::filesystem::path& path, const Safetensors& content);
/// Arrays of several dimensions are read as one of all elements. Throws Error(usage) naming the
/// path when the file cannot be read, is larger than `limit_bytes`, or is none: a header that does
/// not fit, an element type that no kernel has, an array that lies outside of the file.
[[nodiscard]] Safetensors read_safetensors(const std::filesystem::path& path,
                                           std::size_t limit_bytes);
/// As read_safetensors, from a file's bytes; `origin` is named in messages.
[[nodiscard]] Safetensors parse_safetensors(std::string_view file, std::string_view origin);

}  // namespace tuner::verify
