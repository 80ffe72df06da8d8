// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/cpu_executor.hpp"

#include "tuner/backend/cpu/block_runner.hpp"
#include "tuner/backend/cpu/host_library.hpp"
#include "tuner/backend/cpu/host_tensor_map.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/backend/match_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tuner::backend {
namespace {

constexpr std::size_t kAlignment = 256;  // as cudaMalloc aligns

const KernelImage& image_of(FunctionId function) {
  return *reinterpret_cast<const KernelImage*>(static_cast<std::uintptr_t>(function));
}

}  // namespace

CpuExecutor::CpuExecutor(space::DeviceInfo device, space::EnvironmentInfo environment,
                         HostCompilerInfo compiler)
    : device_(std::move(device)),
      environment_(std::move(environment)),
      compiler_(std::move(compiler)),
      grids_(static_cast<unsigned>(device_.attributes.sm_count), 0) {}

Expected<std::vector<FunctionId>, Failure> CpuExecutor::load(const Binary& binary) {
  const std::scoped_lock lock(mutex_);
  const auto file = scratch_files_.path() / fmt::format("{}.so", images_.size());
  auto image = LoadedImage::load(binary, file);
  if (!image) return Unexpected(image.error());
  images_.push_back(std::move(*image));
  std::vector<FunctionId> functions;
  for (const KernelImage* function : images_.back().functions()) {
    functions.push_back(FunctionId{reinterpret_cast<std::uintptr_t>(function)});
  }
  return functions;
}

Expected<void, Failure> CpuExecutor::admit(FunctionId function, const family::Geometry& geometry,
                                           std::span<const std::size_t> argument_bytes) {
  const KernelImage* const kernel = &image_of(function);
  const auto has_kernel = [&](const LoadedImage& image) {
    return std::ranges::count(image.functions(), kernel) > 0;
  };
  std::size_t static_shared_bytes = 0;
  {
    const std::scoped_lock lock(mutex_);
    static_shared_bytes = std::ranges::find_if(images_, has_kernel)->static_shared_bytes();
  }
  if (auto fits = check_geometry(geometry, static_shared_bytes); !fits) return fits;
  return match_arguments(argument_bytes, argument_sizes(image_of(function)));
}

Expected<void, Failure> CpuExecutor::launch(FunctionId function, const family::Geometry& geometry,
                                            void** arguments, StreamHandle) {
  const std::scoped_lock lock(grid_mutex_);
  return grids_.run(
      {.entry = image_of(function).entry, .arguments = arguments, .geometry = geometry});
}

Expected<TensorMapValue, Failure> CpuExecutor::tensor_map(const family::TensorLayout& layout,
                                                          void* buffer) const {
  return host_tensor_map(layout, static_cast<std::byte*>(buffer));
}

/// All that is launched runs in the order of the calls, as on one stream.
Expected<StreamState, Failure> CpuExecutor::state(StreamHandle) const {
  return StreamState{};
}

Expected<std::shared_ptr<void>, Failure> CpuExecutor::memory(std::size_t size_bytes) {
  const std::size_t whole = (size_bytes + kAlignment) / kAlignment * kAlignment;
  std::shared_ptr<void> memory(std::aligned_alloc(kAlignment, whole), std::free);
  if (memory == nullptr)
    return launch_error(fmt::format("cannot allocate {} bytes of memory", whole));
  std::memset(memory.get(), 0, whole);
  return memory;
}

Expected<void, Failure> CpuExecutor::repeat(std::span<const std::byte> bytes, void* memory,
                                            std::size_t size_bytes) {
  const std::scoped_lock lock(grid_mutex_);
  for (std::size_t at = 0; at < size_bytes; at += bytes.size()) {
    std::memcpy(static_cast<std::byte*>(memory) + at, bytes.data(),
                std::min(bytes.size(), size_bytes - at));
  }
  return {};
}

Expected<void, Failure> CpuExecutor::read(const void* memory, std::span<std::byte> to,
                                          StreamHandle) {
  const std::scoped_lock lock(grid_mutex_);
  std::memcpy(to.data(), memory, to.size());
  return {};
}

Expected<void, Failure> CpuExecutor::clear(void* memory, std::size_t size_bytes, StreamHandle) {
  const std::scoped_lock lock(grid_mutex_);
  std::memset(memory, 0, size_bytes);
  return {};
}

Expected<void*, Failure> CpuExecutor::graph_memory(std::size_t, StreamHandle) {
  return launch_error("the cpu backend has no stream capture");
}

Expected<std::vector<double>, Failure> CpuExecutor::time(std::span<const StreamWork> works) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times_ns;
  if (works.empty()) return times_ns;
  if (auto done = works.front()(nullptr); !done) return Unexpected(done.error());
  for (const StreamWork& work : works) {
    const auto begin = Clock::now();
    if (auto done = work(nullptr); !done) return Unexpected(done.error());
    times_ns.push_back(std::chrono::duration<double, std::nano>(Clock::now() - begin).count());
  }
  return times_ns;
}

Expected<void, Failure> CpuExecutor::run_library(const blas::Operation& operation,
                                                 const blas::Addresses& operands, StreamHandle) {
  return run_host_library(operation, operands);
}

std::vector<std::string> CpuExecutor::library_algorithms(const blas::Operation& operation,
                                                         const blas::Addresses&) {
  return host_library_algorithms(operation);
}

Expected<LibraryWork, Failure> CpuExecutor::library_work(const blas::Operation& operation,
                                                         const std::string& algorithm) {
  if (std::ranges::count(host_library_algorithms(operation), algorithm) == 0) {
    return launch_error(fmt::format("'{}' is no algorithm of the host's library", algorithm));
  }
  return LibraryWork{
      .name = "algorithm " + algorithm,
      .enqueue = [operation, algorithm](const blas::Addresses& operands, void*, StreamHandle) {
        return run_host_library(operation, operands, algorithm);
      }};
}

}  // namespace tuner::backend
