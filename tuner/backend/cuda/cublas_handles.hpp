// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/captured_memory.hpp"
#include "tuner/backend/cuda/cublas_api.hpp"
#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/cuda/graph_memory.hpp"
#include "tuner/core/number_map.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tuner::backend {

/// What is to be done with a handle.
using CublasCall = std::function<Expected<void, Failure>(cublasHandle_t)>;
/// What is to be done with workspace_bytes() of device memory.
using WorkspaceCall = std::function<Expected<void, Failure>(void*)>;

/// cuBLAS for many streams. Two that run at once must not share a workspace: a stream has a handle
/// of its own, and so has what is captured of all graphs in a context. A graph gets a workspace
/// with the first call that may use it; calls that do not share a spare one. A workspace costs a
/// graph 32 MiB and 2 us at each launch.
class CublasHandles {
 public:
  /// Throws Error(no_device) when cuBLAS is not installed. Touches no device yet. The driver and
  /// the memory must outlive this. `compute_capability`: 90 for 9.0.
  CublasHandles(const DriverApi& driver, GraphMemory& memory, std::int64_t compute_capability);
  ~CublasHandles();
  CublasHandles(const CublasHandles&) = delete;
  CublasHandles& operator=(const CublasHandles&) = delete;

  [[nodiscard]] const CublasApi& api() const { return api_; }
  /// Makes the handle for captures in the current context, which takes 0.1 s.
  [[nodiscard]] Expected<void, Failure> prepare();
  /// The handle of a stream of the current context that is not being captured: that used before, or
  /// a new one.
  [[nodiscard]] Expected<cublasHandle_t, Failure> on(const StreamState& state, CUstream stream);
  /// Calls with a handle for a stream that is being captured, in any number of captures.
  [[nodiscard]] Expected<void, Failure> capture(const StreamState& state, CUstream stream,
                                                const CublasCall& call);

  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }
  /// Calls with a workspace for cublasLt on a stream, which no work of another stream uses; in a
  /// capture with that of cuBLAS.
  [[nodiscard]] Expected<void, Failure> with_workspace(const StreamState& state, CUstream stream,
                                                       const WorkspaceCall& call);

 private:
  struct Handle {
    cublasHandle_t handle = nullptr;
    std::shared_ptr<GraphMemory::Block> lt_workspace = {};  ///< null until it is needed
  };
  struct Captures {
    Handle* handle = nullptr;
    CapturedMemory workspaces;
    /// No graph's yet; null until it is needed.
    std::shared_ptr<GraphMemory::Block> spare;
  };
  [[nodiscard]] Expected<Handle*, Failure> make();
  /// Of a stream of the current context.
  [[nodiscard]] Expected<Handle*, Failure> handle_on(const StreamState& state, CUstream stream);
  /// Of the current context, with its handle.
  [[nodiscard]] Expected<Captures*, Failure> captures();
  /// What a graph may use of the workspace becomes the graph's.
  [[nodiscard]] Expected<void, Failure> capture_with(
      const StreamState& state, CUstream stream,
      const std::function<Expected<void, Failure>(const Captures&, void* workspace)>& call);

  const DriverApi& driver_;
  GraphMemory& memory_;
  std::size_t workspace_bytes_;
  CublasApi api_;
  NumberMap<Handle> by_stream_;
  std::mutex mutex_;                              // of what follows
  std::vector<std::unique_ptr<Handle>> handles_;  // all
  std::map<CUcontext, Captures> captures_;
};

}  // namespace tuner::backend
