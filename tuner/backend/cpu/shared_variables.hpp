// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cpu/kernel_abi.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tuner::backend {

/// A `__shared__` variable of a kernel's image. It is thread-local there: this is its place behind
/// (or before) `tuner::context` of the same thread.
struct SharedVariable {
  std::ptrdiff_t offset_bytes = 0;
  std::size_t size_bytes = 0;
};

/// The `__shared__` variables that the symbol table of an image (ELF, 64 bits) names, with those
/// that point to dynamic shared memory. None where the image has no symbol table.
[[nodiscard]] std::vector<SharedVariable> shared_variables(std::span<const std::byte> image);

/// The `__shared__` variables of an image, and how to reach those of the calling thread.
struct StaticShared {
  KernelContext** (*context_place)() = nullptr;  ///< as in KernelImage
  std::span<const SharedVariable> variables = {};
};

/// Fills the calling thread's variables with copies of a word, but for pointers to
/// `dynamic_shared`, which the program text of a kernel calls an array.
void fill(const StaticShared& shared, std::uint32_t content, const void* dynamic_shared);

}  // namespace tuner::backend
