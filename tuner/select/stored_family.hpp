// SPDX-License-Identifier: Apache-2.0
// Stored kernels with their code, and whether it is the code that their hashes name.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/records.hpp"

#include <span>

namespace tuner::select {

/// The family in the space file of `record`, with the sources of those of `kernels` that came with
/// the same file. A space file names all kernels of its family; the others get a source that is
/// never compiled. Throws Error(usage) when the file cannot be read.
[[nodiscard]] family::Family stored_family(std::span<const store::KernelRecord* const> kernels,
                                           const store::KernelRecord& record);
[[nodiscard]] family::Family stored_family(const store::KernelRecord& record);

/// Throws Error(usage), naming the kernel, unless the hash it is stored under is that of its code:
/// results belong to the code that was verified. `family` is what stored_family made of the record.
void require_own_code(const store::KernelRecord& record, const family::Family& family);
/// Throws so for a record alone; a kernel that came without its space file cannot run and passes.
void require_own_code(const store::KernelRecord& record);

}  // namespace tuner::select
