// SPDX-License-Identifier: Apache-2.0
// dlsym(3), which this library exports too: programs such as JAX open cuBLAS and look its functions
// up in it, where a preloaded library is not searched.
#pragma once

namespace tuner::cublas {

/// The system's dlsym(3), called by this library.
[[nodiscard]] void* system_dlsym(void* handle, const char* name);

/// What this library exports in place of a function of cuBLAS; null where it exports none.
[[nodiscard]] void* substitute_of(const char* name);

}  // namespace tuner::cublas
