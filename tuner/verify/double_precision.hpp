// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/candidate.hpp"

#include <optional>

namespace tuner::verify {

/// Whether all floating-point numbers in a family's buffers are floats, so that a computation in
/// double shows their rounding errors; none is in an array.
[[nodiscard]] bool has_double_form(const family::Family& family);

/// The job of a reference kernel that computes in double what its source computes in float. None
/// where its family passes other floating-point types or float arrays, or where the source may
/// depend on the size or the bits of a float: includes, vectors, casts of pointers, `sizeof`,
/// dynamic shared memory.
[[nodiscard]] std::optional<family::CompileJob> in_double(const family::Family& family,
                                                          const family::Kernel& kernel,
                                                          family::CompileJob job);

}  // namespace tuner::verify
