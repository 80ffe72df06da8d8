// SPDX-License-Identifier: Apache-2.0
// Device functions of the examples: memory that host and device can access, and synchronization.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#ifdef EXAMPLE_ON_CUDA
#include <cuda_runtime_api.h>
#else
#include <cstdlib>
#endif

namespace example {

#ifdef EXAMPLE_ON_CUDA
inline const std::string backend = "cuda";

inline void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
inline void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMallocManaged(&memory, bytes));
  return memory;
}
inline void release(void* memory) {
  cudaFree(memory);
}
inline void wait() {
  check(cudaDeviceSynchronize());
}
#else
inline const std::string backend = "cpu";

inline void* allocate(std::size_t bytes) {
  return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
}
inline void release(void* memory) {
  std::free(memory);
}
inline void wait() {}  // launches are synchronous
#endif

/// An array of floats that host and device can access.
class Floats {
 public:
  explicit Floats(std::size_t count) : data_(static_cast<float*>(allocate(count * sizeof(float)))) {
    for (std::size_t i = 0; i < count; ++i) data_[i] = static_cast<float>(i % 7) - 3;
  }
  ~Floats() { release(data_); }
  Floats(const Floats&) = delete;
  Floats& operator=(const Floats&) = delete;

  float* data() { return data_; }
  float& operator[](std::size_t i) { return data_[i]; }

 private:
  float* data_;
};

}  // namespace example
