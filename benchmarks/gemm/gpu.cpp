// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/gpu.hpp"

#include "embedded/gemm_kernels_cu.hpp"
#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/backend/cuda/device_query.hpp"
#include "tuner/backend/cuda/shared_library.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/measure/statistics.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

namespace tuner::gemm_benchmark {
namespace {

space::DeviceInfo use_device(int ordinal) {
  const backend::CudaDevices devices = backend::find_cuda_devices();
  if (devices.count == 0) {
    throw Error(ErrorCode::no_device,
                fmt::format("skipped, as nothing can be measured here: {}; {}", devices.problem,
                            devices.remedy));
  }
  if (ordinal >= devices.count) {
    throw Error(ErrorCode::no_device,
                fmt::format("there is no GPU {}: this machine has {}, counted from 0", ordinal,
                            devices.count));
  }
  backend::check(cudaSetDevice(ordinal), "use the GPU");
  return backend::cuda_device_info(ordinal);
}

backend::CudaKernel load(const backend::Compiler& compiler, const std::string& name) {
  const std::string_view text = embedded::gemm_kernels_cu();
  const auto fail = [&](const Failure& failure) {
    return Error(ErrorCode::failure, fmt::format("the GPU cannot run the benchmark's kernel {}: {}",
                                                 name, failure.message));
  };
  const auto binary = compiler.compile(
      {.source = {.name = "gemm_kernels.cu", .text = std::string(text), .headers = {}},
       .entries = {name},
       .options = {},
       .key = content_hash({text, name})});
  if (!binary) throw fail(binary.error());
  auto kernel = backend::CudaKernel::load(*binary);
  if (!kernel) throw fail(kernel.error());
  return std::move(*kernel);
}

std::string cuda_version() {
  return fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

}  // namespace

void require(const Expected<void, Failure>& done, std::string_view action) {
  if (done) return;
  throw Error(ErrorCode::failure, fmt::format("cannot {}: {}", action, done.error().message));
}

Gpu::Gpu(int ordinal)
    : device_(use_device(ordinal)),
      compiler_(device_.architecture),
      stream_(backend::make_stream()),
      gate_(compiler_, stream_.get()) {}

backend::CudaKernel& Gpu::kernel(const char* name, ElementType type) {
  const std::string entry = fmt::format("{}<{}>", name, row(type).cpp_name);
  const auto known = kernels_.find(entry);
  if (known != kernels_.end()) return known->second;
  return kernels_.emplace(entry, load(compiler_, entry)).first->second;
}

void Gpu::run(backend::CudaKernel& kernel, std::vector<backend::KernelArgument> arguments) {
  const auto blocks = static_cast<std::uint32_t>(8 * device_.attributes.sm_count);
  const auto enqueue = kernel.functions().front().launch(
      {.grid = {blocks, 1, 1}, .block = {256, 1, 1}}, std::move(arguments), stream());
  if (!enqueue) {
    throw Error(ErrorCode::failure, fmt::format("cannot launch one of the benchmark's kernels: {}",
                                                enqueue.error().message));
  }
  require((*enqueue)(), "launch one of the benchmark's kernels");
  require(backend::finish(stream()), "run one of the benchmark's kernels");
}

void Gpu::fill_normal(std::byte* data, ElementType type, std::size_t count, std::uint64_t seed) {
  run(kernel("fill_normal", type),
      {backend::packed(data), backend::packed(count), backend::packed(seed)});
}

void Gpu::make_absolute(std::byte* data, ElementType type, std::size_t count) {
  run(kernel("absolute", type), {backend::packed(data), backend::packed(count)});
}

double Gpu::worst_share(const Comparison& comparison) {
  const backend::DeviceMemory worst = backend::make_device_memory(sizeof(float));
  backend::check(cudaMemsetAsync(worst.get(), 0, sizeof(float), stream()), "clear the difference");
  run(kernel("compare", comparison.type),
      {backend::packed(comparison.a), backend::packed(comparison.b),
       backend::packed(comparison.magnitude), backend::packed(comparison.rows),
       backend::packed(comparison.columns), backend::packed(comparison.ld),
       backend::packed(comparison.factor), backend::packed(comparison.relative),
       backend::packed(worst.get())});
  float share = 0;
  backend::check(cudaMemcpy(&share, worst.get(), sizeof share, cudaMemcpyDeviceToHost),
                 "read the difference");
  return static_cast<double>(share);
}

double Gpu::copy_bytes_per_s() {
  constexpr std::size_t kSize_bytes = std::size_t{1} << 30;
  constexpr int kWarmUp = 3;
  constexpr int kSamples = 11;
  const backend::DeviceMemory from = backend::make_device_memory(kSize_bytes);
  const backend::DeviceMemory to = backend::make_device_memory(kSize_bytes);
  fill_normal(from.get(), ElementType::f32, kSize_bytes / sizeof(float), 1);
  const backend::Event begin = backend::make_event();
  const backend::Event end = backend::make_event();
  std::vector<double> times_ns;
  for (int i = 0; i < kWarmUp + kSamples; ++i) {
    require(gate_.close(), "hold the stream back");
    backend::check(cudaEventRecord(begin.get(), stream()), "time a copy");
    backend::check(
        cudaMemcpyAsync(to.get(), from.get(), kSize_bytes, cudaMemcpyDeviceToDevice, stream()),
        "copy on the GPU");
    backend::check(cudaEventRecord(end.get(), stream()), "time a copy");
    gate_.open();
    require(backend::finish(stream()), "copy on the GPU");
    if (i >= kWarmUp) times_ns.push_back(backend::elapsed_ns(begin, end));
  }
  return 2.0 * static_cast<double>(kSize_bytes) / (*measure::quantile(times_ns, 0.5) / 1e9);
}

RunInfo run_info(Gpu& gpu, const std::string& library) {
  const std::time_t now = std::time(nullptr);
  return {.device = gpu.device().name,
          .driver = backend::driver_identity(),
          .cuda = cuda_version(),
          .library = library,
          .date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now)),
          .copy_bytes_per_s = gpu.copy_bytes_per_s()};
}

/// The few declarations of nvml.h that are needed, which not every toolkit installs.
struct SmClock::Api {
  using Result = int;  // 0 is success
  backend::SharedLibrary library{"libnvidia-ml.so.1"};
  Result (*init)() = library.symbol("nvmlInit_v2");
  Result (*device_by_uuid)(const char*,
                           nvmlDevice_st**) = library.symbol("nvmlDeviceGetHandleByUUID");
  Result (*clock)(nvmlDevice_st*, int, unsigned*) = library.symbol("nvmlDeviceGetClockInfo");
};

SmClock::SmClock(const std::string& uuid) {
  try {
    auto api = std::make_unique<const Api>();
    if (api->init() == 0 && api->device_by_uuid(uuid.c_str(), &device_) == 0) {
      api_ = std::move(api);
    }
  } catch (const Error&) {
    // No library, or one too old: nothing will be known.
  }
}

SmClock::~SmClock() = default;

std::optional<double> SmClock::mhz() const {
  constexpr int kMultiprocessors = 1;  // NVML_CLOCK_SM
  unsigned mhz = 0;
  if (!api_ || api_->clock(device_, kMultiprocessors, &mhz) != 0) return std::nullopt;
  return mhz;
}

}  // namespace tuner::gemm_benchmark
