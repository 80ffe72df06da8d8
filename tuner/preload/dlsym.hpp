// SPDX-License-Identifier: Apache-2.0
// Module preload: what libraries that are preloaded into programs share: dlsym(3), which they
// replace. Also libtuner_capture.so, which records a launch.
//
// dlsym(3) of a preloaded library, which exports it too: programs look functions of the driver and
// of cuBLAS up in the libraries that they open, where a preloaded one is not searched.
#pragma once

namespace tuner::preload {

/// The system's dlsym(3), called by this library; null where the system has none.
[[nodiscard]] void* system_dlsym(void* handle, const char* name);

}  // namespace tuner::preload

extern "C" {

/// What dlsym() returns in place of a function; null: what the system's returns. Each library that
/// links this module has its own.
__attribute__((visibility("hidden"))) void* tuner_preload_substitute(void* handle,
                                                                     const char* name);
}
