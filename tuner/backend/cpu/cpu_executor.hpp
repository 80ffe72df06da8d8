// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cpu/grid_runner.hpp"
#include "tuner/backend/cpu/host_compiler.hpp"
#include "tuner/backend/cpu/loaded_image.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/core/file.hpp"

#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tuner::backend {

/// The processor: a launch has run when the call returns, and grids run one after the other, each
/// on all cores. Pointers are the host's.
class CpuExecutor final : public Executor {
 public:
  CpuExecutor(space::DeviceInfo device, space::EnvironmentInfo environment,
              HostCompilerInfo compiler);

  [[nodiscard]] const space::DeviceInfo& device() const override { return device_; }
  [[nodiscard]] const space::EnvironmentInfo& environment() const override { return environment_; }
  [[nodiscard]] const Compiler& compiler() const override { return compiler_; }

  [[nodiscard]] Expected<std::vector<FunctionId>, Failure> load(const Binary& binary) override;
  [[nodiscard]] Expected<void, Failure> admit(FunctionId function, const family::Geometry& geometry,
                                              std::span<const std::size_t> argument_bytes) override;
  [[nodiscard]] Expected<void, Failure> launch(FunctionId function,
                                               const family::Geometry& geometry, void** arguments,
                                               StreamHandle stream) override;
  [[nodiscard]] Expected<TensorMapValue, Failure> tensor_map(const family::TensorLayout& layout,
                                                             void* buffer) const override;
  [[nodiscard]] Expected<StreamState, Failure> state(StreamHandle stream) const override;
  [[nodiscard]] Expected<std::shared_ptr<void>, Failure> memory(std::size_t size_bytes) override;
  [[nodiscard]] Expected<void, Failure> read(const void* memory, std::span<std::byte> to,
                                             StreamHandle stream) override;
  [[nodiscard]] Expected<void, Failure> repeat(std::span<const std::byte> bytes, void* memory,
                                               std::size_t size_bytes) override;
  [[nodiscard]] Expected<void, Failure> clear(void* memory, std::size_t size_bytes,
                                              StreamHandle stream) override;
  [[nodiscard]] Expected<void*, Failure> graph_memory(std::size_t size_bytes,
                                                      StreamHandle stream) override;
  [[nodiscard]] Expected<std::vector<double>, Failure> time(
      std::span<const StreamWork> works) override;
  [[nodiscard]] Expected<void, Failure> prepare_library() override { return {}; }
  [[nodiscard]] Expected<void, Failure> run_library(const blas::Operation& operation,
                                                    const blas::Addresses& operands,
                                                    StreamHandle stream) override;
  [[nodiscard]] std::vector<std::string> library_algorithms(
      const blas::Operation& operation, const blas::Addresses& operands) override;
  [[nodiscard]] Expected<LibraryWork, Failure> library_work(const blas::Operation& operation,
                                                            const std::string& algorithm) override;

 private:
  space::DeviceInfo device_;
  space::EnvironmentInfo environment_;
  HostCompiler compiler_;
  TemporaryDirectory scratch_files_;
  std::mutex mutex_;                // of what follows
  std::deque<LoadedImage> images_;  // a FunctionId is the address of one
  std::mutex grid_mutex_;
  GridRunner grids_;  // last: its threads stop before the kernels' images go
};

}  // namespace tuner::backend
