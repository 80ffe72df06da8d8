// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tuner::cublas {

/// What this library exports in place of a function of cuBLAS; null where it exports none.
[[nodiscard]] void* substitute_of(const char* name);

}  // namespace tuner::cublas
