// SPDX-License-Identifier: Apache-2.0
// Owners of what a backend gives out as numbers.
#pragma once

#include "tuner/backend/backend.hpp"

#include <utility>

namespace tuner::backend {

/// A buffer, released with its owner. The backend must outlive it.
class Buffer {
 public:
  Buffer(Backend& backend, std::size_t size_bytes)
      : Buffer(backend, backend.allocate(size_bytes), size_bytes) {}
  Buffer(Backend& backend, BufferId id, std::size_t size_bytes)
      : backend_(&backend), id_(id), size_bytes_(size_bytes) {}
  Buffer(Buffer&& other) noexcept
      : backend_(std::exchange(other.backend_, nullptr)),
        id_(other.id_),
        size_bytes_(other.size_bytes_) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(id_, other.id_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  ~Buffer() {
    if (backend_ != nullptr) backend_->release(id_);
  }

  [[nodiscard]] BufferId id() const { return id_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  Backend* backend_;
  BufferId id_;
  std::size_t size_bytes_;
};

/// A kernel on the device, unloaded with its owner. The backend must outlive it.
class LoadedKernel {
 public:
  LoadedKernel(Backend& backend, KernelId id) : backend_(&backend), id_(id) {}
  LoadedKernel(LoadedKernel&& other) noexcept
      : backend_(std::exchange(other.backend_, nullptr)), id_(other.id_) {}
  LoadedKernel& operator=(LoadedKernel&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~LoadedKernel() {
    if (backend_ != nullptr) backend_->unload(id_);
  }

  [[nodiscard]] KernelId id() const { return id_; }

 private:
  Backend* backend_;
  KernelId id_;
};

}  // namespace tuner::backend
