// SPDX-License-Identifier: Apache-2.0
// Bytes compressed by gzip, in base64: what a text holds of them until somebody reads them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tuner {

/// `fast` for texts that are written while somebody waits.
enum class Compression { fast, best };

/// Throws Error(failure) where zlib is missing.
[[nodiscard]] std::string compressed(std::string_view bytes, Compression compression);

/// The bytes of what compressed() made; none when it did not, or of another number of bytes. Any
/// text is safe to ask about: no more than `size_bytes` are written. None where zlib is missing.
[[nodiscard]] std::optional<std::string> decompressed(std::string_view text,
                                                      std::size_t size_bytes);

}  // namespace tuner
