// SPDX-License-Identifier: Apache-2.0
// Behind the image of a kernel may lie another one of the same kernel, whose threads interleave
// where they update memory without an atomic operation. Verification runs it too; the loader of the
// system does not see it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tuner::backend {

/// Puts it behind the image.
void append_interleaved(std::vector<std::byte>& image, std::string_view interleaved);

/// What append_interleaved put there; empty where there is none.
[[nodiscard]] std::span<const std::byte> interleaved_part(std::span<const std::byte> image);

}  // namespace tuner::backend
