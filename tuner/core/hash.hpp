// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tuner {

// Both hashes are of an ordered list of parts, each preceded by its length as 8 bytes, so that
// {"ab","c"} and {"a","bc"} differ.

/// 128-bit XXH3 as 32 lower-case hexadecimal digits, for checksums and cache keys. Not
/// cryptographic: it tells versions apart, it does not guard against forgery.
[[nodiscard]] std::string content_hash(std::span<const std::string_view> parts);
[[nodiscard]] std::string content_hash(std::initializer_list<std::string_view> parts);

/// content_hash of the whole content of a regular file as its only part. Throws Error(usage) naming
/// the path when it cannot be read, or is changed meanwhile.
[[nodiscard]] std::string content_hash_of_file(const std::filesystem::path& path);

/// SHA-256 (FIPS 180-4) as 64 lower-case hexadecimal digits, for what must not be forged.
[[nodiscard]] std::string sha256(std::span<const std::string_view> parts);

}  // namespace tuner
