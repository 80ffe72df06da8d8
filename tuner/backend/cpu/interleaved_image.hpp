// SPDX-License-Identifier: Apache-2.0
// Behind the image of a kernel may lie another one of the same kernel, whose threads interleave
// where they update memory without an atomic operation. Verification runs it too; the loader of the
// system does not see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tuner::backend {

/// Whether both images give the same bits, or round sums of products in different places.
enum class Rounding : std::uint64_t { same, other };

/// Puts it behind the image.
void append_interleaved(std::vector<std::byte>& image, std::string_view interleaved,
                        Rounding rounding);

struct InterleavedPart {
  std::span<const std::byte> image = {};
  Rounding rounding = Rounding::same;
};
/// What append_interleaved put there; no bytes where there is none.
[[nodiscard]] InterleavedPart interleaved_part(std::span<const std::byte> image);

}  // namespace tuner::backend
