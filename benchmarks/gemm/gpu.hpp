// SPDX-License-Identifier: Apache-2.0
// What every part of the benchmark needs of the GPU.
#pragma once

#include "benchmarks/gemm/result.hpp"
#include "tuner/backend/cuda/cuda_kernel.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/stream_gate.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/space/device.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct nvmlDevice_st;

namespace tuner::gemm_benchmark {

/// One GPU, a stream of it and what is compiled for it.
class Gpu {
 public:
  /// Throws Error(no_device) when there is no such GPU or a library is missing.
  explicit Gpu(int ordinal);

  [[nodiscard]] const space::DeviceInfo& device() const { return device_; }
  [[nodiscard]] const backend::NvrtcCompiler& compiler() const { return compiler_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }
  [[nodiscard]] backend::StreamGate& gate() { return gate_; }

  /// Standard normal numbers, of integers 32 times as large; the same of a seed are the same.
  /// Throws Error(failure).
  void fill_normal(std::byte* data, ElementType type, std::size_t count, std::uint64_t seed);
  /// Takes the absolute value of each. Throws Error(failure).
  void make_absolute(std::byte* data, ElementType type, std::size_t count);

  /// Three matrices that lie alike, rows of `ld`: the results of two, and what scales the bound of
  /// each element.
  struct Comparison {
    const std::byte *a, *b, *magnitude;
    std::int64_t rows, columns, ld;
    double factor, relative;
    ElementType type;
  };
  /// The largest |a − b| as a share of factor · magnitude + relative · |b|; infinity for NaN.
  /// Throws Error(failure).
  [[nodiscard]] double worst_share(const Comparison& comparison);

  /// Bytes per second, read and written, of a copy of 1 GiB on the device: the median of 11.
  [[nodiscard]] double copy_bytes_per_s();

 private:
  /// A kernel of the benchmark for a type, compiled when first needed.
  [[nodiscard]] backend::CudaKernel& kernel(const char* name, ElementType type);
  void run(backend::CudaKernel& kernel, std::vector<backend::KernelArgument> arguments);

  space::DeviceInfo device_;
  backend::NvrtcCompiler compiler_;
  backend::Stream stream_;
  backend::StreamGate gate_;
  std::map<std::string, backend::CudaKernel> kernels_;  // by entry
};

/// Throws Error(failure) "cannot <action>: <why>" unless it went well.
void require(const Expected<void, Failure>& done, std::string_view action);

/// What the figures of this run depend on; `library` is cuBLAS's version. Copies for a moment.
[[nodiscard]] RunInfo run_info(Gpu& gpu, const std::string& library);

/// The multiprocessors' clock as NVML shows it. Where the library is missing or refuses to answer,
/// nothing is known.
class SmClock {
 public:
  /// `uuid` as in DeviceInfo.
  explicit SmClock(const std::string& uuid);
  ~SmClock();
  SmClock(const SmClock&) = delete;
  SmClock& operator=(const SmClock&) = delete;

  /// At this moment.
  [[nodiscard]] std::optional<double> mhz() const;

 private:
  struct Api;
  std::unique_ptr<const Api> api_;  ///< null when there is none
  nvmlDevice_st* device_ = nullptr;
};

}  // namespace tuner::gemm_benchmark
