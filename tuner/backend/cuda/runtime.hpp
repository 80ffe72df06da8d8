// SPDX-License-Identifier: Apache-2.0
// Owners of the CUDA runtime's objects, and its error codes in this project's terms. For the .cpp
// files of this folder alone: it brings CUDA's headers along.
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

/// The result of a call made for a candidate. An error is a launch_error when it is known to be a
/// refusal that leaves the device as usable as before, and then the runtime forgets it; every other
/// code, also one unknown to us, is crashed.
Expected<void, Failure> attempt(cudaError_t result);

/// Waits for everything on a stream. Whatever comes to light here happened on the device: crashed.
Expected<void, Failure> finish(cudaStream_t stream);

/// Puts a piece of work on a stream and does not wait for it.
using Enqueue = std::function<Expected<void, Failure>()>;

/// Throws Error(failure) "cannot <action>: <error>" unless the call went well.
void check(cudaError_t result, std::string_view action);

/// Calls a destroying function. Its result says nothing that could be acted upon: after a fault
/// every call fails, and the process that faulted ends.
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
using Library = Owned<cudaLibrary_t, cudaLibraryUnload>;
using DeviceMemory = Owned<std::byte*, cudaFree>;
using PinnedMemory = Owned<std::byte*, cudaFreeHost>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

[[nodiscard]] Stream make_stream();
[[nodiscard]] Event make_event();  ///< one that keeps time
/// Throws Error(failure) with the size asked for and the size free.
[[nodiscard]] DeviceMemory make_device_memory(std::size_t size_bytes);
/// Memory of the host, zeroed, that the device reads and writes at the same address.
[[nodiscard]] PinnedMemory make_pinned_memory(std::size_t size_bytes);

/// Nanoseconds between two events that have both passed.
[[nodiscard]] double elapsed_ns(const Event& begin, const Event& end);

}  // namespace tuner::backend
