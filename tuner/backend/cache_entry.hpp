// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace tuner::backend {

/// A compiled kernel as the bytes of a file: magic, format version, lengths, checksum, symbols,
/// each ended by a zero byte, image. The checksum covers the key too, so that an entry under
/// another name is no entry.
[[nodiscard]] std::string encode_cache_entry(std::string_view key, const Binary& binary);

/// The compiled kernel of a file's bytes; none when they are not exactly what encode_cache_entry
/// made for this key. Any bytes are safe to ask about.
[[nodiscard]] std::optional<Binary> decode_cache_entry(std::string_view key,
                                                       std::string_view bytes);

}  // namespace tuner::backend
