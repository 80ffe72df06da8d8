// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/cublas_api.hpp"
#include "tuner/backend/cuda/driver.hpp"
#include "tuner/core/number_map.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tuner {

/// cuBLAS for many streams: a handle, and so a workspace, for each stream and for each capture of
/// one, since two that run at once must not share.
class CublasHandles {
 public:
  /// Throws Error(no_device) when cuBLAS is not installed. Touches no device yet. The driver must
  /// outlive this.
  explicit CublasHandles(const DriverApi& driver) : driver_(driver) {}
  ~CublasHandles();
  CublasHandles(const CublasHandles&) = delete;
  CublasHandles& operator=(const CublasHandles&) = delete;

  [[nodiscard]] const CublasApi& api() const { return api_; }
  /// Makes spare handles for captures in the current context. Not during a capture.
  [[nodiscard]] Expected<void, Failure> prepare();
  /// The handle of a stream of the current context: that used before, a spare during a capture, or
  /// a new one.
  [[nodiscard]] Expected<cublasHandle_t, Failure> on(const StreamState& state, CUstream stream);

 private:
  struct Handle {
    CUcontext context = nullptr;
    cublasHandle_t handle = nullptr;
  };
  [[nodiscard]] CUcontext context() const;
  [[nodiscard]] Expected<Handle*, Failure> make();
  [[nodiscard]] Handle* take_spare();

  const DriverApi& driver_;
  CublasApi api_;
  NumberMap<Handle> by_stream_;
  std::mutex mutex_;                              // of what follows
  std::vector<std::unique_ptr<Handle>> handles_;  // all
  std::vector<Handle*> spare_;
};

}  // namespace tuner
