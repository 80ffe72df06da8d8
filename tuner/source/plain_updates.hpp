// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/source.hpp"

#include <span>
#include <string>
#include <string_view>

namespace tuner::source {

/// An option of kernels that are no candidates, which space files may not name: the cpu backend
/// does not compile them once more to show races.
inline constexpr std::string_view kWithoutRaces = "-DTUNER_WITHOUT_RACES";

/// Whether a kernel may change elements of shared memory, or of memory behind a pointer, in a way
/// that takes a read and a write: `bins[i]++`, `*total += x`, `s[i] = s[i] + x`. Errs on the side
/// of true, but for variables of the kernel's own.
[[nodiscard]] bool has_plain_updates(const KernelSource& source);

/// Whether a block may read what others of the launch write, as far as the words of the source
/// tell: it has an atomic operation, a volatile variable or the like.
[[nodiscard]] bool may_join_blocks(const KernelSource& source);

/// Whether a source computes with whole numbers alone, as far as its words tell, without its
/// headers, and those of `roots`, its entries and options: then every way to compile it gives the
/// same bits.
[[nodiscard]] bool is_of_whole_numbers(const KernelSource& source,
                                       std::span<const std::string> roots);

}  // namespace tuner::source
