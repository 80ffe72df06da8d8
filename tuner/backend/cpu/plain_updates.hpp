// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"
#include "tuner/family/family.hpp"

namespace tuner::backend {

/// Whether a kernel may change elements of shared memory, or of memory behind a pointer, in a way
/// that takes a read and a write: `bins[i]++`, `*total += x`, `s[i] = s[i] + x`. Errs on the side
/// of true, but for variables of the kernel's own.
[[nodiscard]] bool has_plain_updates(const family::KernelSource& source);

/// Whether a block may read what others of the launch write, as far as the words of the source
/// tell: it has an atomic operation, a volatile variable or the like.
[[nodiscard]] bool may_join_blocks(const family::KernelSource& source);

/// Whether a job computes with whole numbers alone, as far as the words of its source tell, without
/// its headers: then every way to compile it gives the same bits.
[[nodiscard]] bool is_of_whole_numbers(const family::CompileJob& job);

}  // namespace tuner::backend
