// SPDX-License-Identifier: Apache-2.0
// Owners of the CUDA runtime's objects, and its error codes in this project's terms. For the .cpp
// files of this folder alone: it includes CUDA's headers.
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace tuner::backend {

/// "cudaErrorIllegalAddress (700): an illegal memory access was encountered".
[[nodiscard]] std::string describe(cudaError_t error);

/// The result of a call made for a candidate. An error that is known to leave the device usable is
/// a launch_error and is cleared in the runtime; every other code, also an unknown one, is crashed.
Expected<void, Failure> attempt(cudaError_t result);

/// Waits for all work of a stream. An error reported here occurred on the device: crashed.
Expected<void, Failure> finish(cudaStream_t stream);

/// Puts a piece of work on a stream and does not wait for it.
using Enqueue = std::function<Expected<void, Failure>()>;

/// Throws Error(failure) "cannot <action>: <error>" unless the call succeeded.
void check(cudaError_t result, std::string_view action);

/// Calls a function that destroys an object and ignores its result: after a fault every call fails,
/// and the process ends.
template <auto kDestroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle handle) const noexcept {
    static_cast<void>(kDestroy(handle));
  }
};

template <class Handle, auto kDestroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<kDestroy>>;

using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using DeviceMemory = Owned<std::byte*, cudaFree>;
using PinnedMemory = Owned<std::byte*, cudaFreeHost>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

[[nodiscard]] Stream make_stream();
[[nodiscard]] Event make_event();  ///< with timing enabled
/// Throws Error(failure) with the size asked for and the size free.
[[nodiscard]] DeviceMemory make_device_memory(std::size_t size_bytes);
/// Memory of the host, zeroed, that the device reads and writes at the same address.
[[nodiscard]] PinnedMemory make_pinned_memory(std::size_t size_bytes);

/// Nanoseconds between two events that have both passed.
[[nodiscard]] double elapsed_ns(const Event& begin, const Event& end);

}  // namespace tuner::backend
