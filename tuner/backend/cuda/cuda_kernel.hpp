// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/cuda/kernel_argument.hpp"
#include "tuner/backend/cuda/runtime.hpp"

#include <span>
#include <vector>

namespace tuner::backend {

/// A function of a loaded kernel, as long as the kernel is there.
class CudaFunction {
 public:
  [[nodiscard]] static Expected<CudaFunction, Failure> find(cudaLibrary_t library,
                                                            const std::string& symbol);

  [[nodiscard]] const Resources& resources() const { return resources_; }

  /// A launch on `stream`, checked as far as it can be without running it: launch_error when the
  /// function takes other arguments or the block's shared memory is out of the device's reach.
  [[nodiscard]] Expected<Enqueue, Failure> launch(const family::Geometry& geometry,
                                                  std::vector<KernelArgument> arguments,
                                                  cudaStream_t stream);

 private:
  CudaFunction() = default;
  Expected<void, Failure> allow_dynamic_shared(std::size_t size_bytes);
  /// The runtime takes a kernel of a library wherever it takes a function of the host program.
  [[nodiscard]] const void* function() const { return kernel_; }

  cudaKernel_t kernel_ = nullptr;
  Resources resources_;
  std::size_t dynamic_shared_limit_ = 0;
  std::vector<std::size_t> parameter_bytes_;
};

/// A kernel loaded on the current device.
class CudaKernel {
 public:
  [[nodiscard]] static Expected<CudaKernel, Failure> load(const Binary& binary);

  /// Those of the binary's symbols, at least one.
  [[nodiscard]] std::span<CudaFunction> functions() { return functions_; }
  [[nodiscard]] std::span<const CudaFunction> functions() const { return functions_; }

  /// Copies bytes into a variable of the kernel's image and waits for it; launch_error when it has
  /// none of that name or one of fewer bytes.
  [[nodiscard]] Expected<void, Failure> write(const SymbolValue& symbol, cudaStream_t stream) const;

  /// Whether a variable of the image holds something else than restore_variables would give it.
  /// Waits for the device.
  [[nodiscard]] bool has_changed_variables() const;
  /// Gives all of them, on `stream`, what they held when the image was loaded, or what `write` gave
  /// them last.
  [[nodiscard]] Expected<void, Failure> restore_variables(cudaStream_t stream) const;

 private:
  /// A variable on the device, and where its content is kept.
  struct Variable {
    std::byte* place;
    std::size_t size_bytes, kept_at;
  };
  CudaKernel() = default;
  [[nodiscard]] Expected<void, Failure> keep_variables(std::span<const std::byte> image);

  Library library_;
  std::vector<Variable> variables_;
  DeviceMemory kept_;
  std::vector<CudaFunction> functions_;
};

}  // namespace tuner::backend
