// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/device_query.hpp"

#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/backend/cuda/versions.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace tuner::backend {
namespace {

/// What helps against a driver that is too old for this build.
std::string driver_remedy() {
  std::string remedy = "update NVIDIA's driver (https://www.nvidia.com/drivers)";
  if (CUDART_VERSION / 1000 > kOldestToolkit / 1000) {
    remedy += fmt::format("; drivers that support CUDA {} run a build of tuner with CUDA {}",
                          version_text(kOldestDriver), kOldestToolkit / 1000);
  }
  return remedy;
}

CudaDevices unusable(cudaError_t error) {
  const std::string driver = cuda_driver_version();
  if (error == cudaErrorInsufficientDriver && driver.empty()) {
    return {.problem = "no NVIDIA driver found (libcuda.so.1)",
            .remedy = fmt::format(
                "install an NVIDIA driver that supports CUDA {} (https://www.nvidia.com/drivers); "
                "in a container, start it with --gpus all",
                version_text(driver_needed(CUDART_VERSION)))};
  }
  if (error == cudaErrorInsufficientDriver) {
    return {.problem = fmt::format("the NVIDIA driver supports CUDA up to {}, but {} is needed",
                                   driver, version_text(driver_needed(CUDART_VERSION))),
            .remedy = driver_remedy()};
  }
  if (error == cudaErrorNoDevice) {
    return {.problem = "the NVIDIA driver shows no GPU",
            .remedy =
                "see what `nvidia-smi -L` lists and whether CUDA_VISIBLE_DEVICES hides it; in "
                "a container, start it with --gpus all"};
  }
  return {.problem = "CUDA cannot start: " + describe(error),
          .remedy = "check whether `nvidia-smi` works, and the kernel log (NVRM)"};
}

}  // namespace

CudaDevices find_cuda_devices() {
  CudaDevices devices;
  int driver = 0;
  cudaError_t result = cudaDriverGetVersion(&driver);
  if (result == cudaSuccess && driver < driver_needed(CUDART_VERSION)) {
    return unusable(cudaErrorInsufficientDriver);
  }
  result = cudaGetDeviceCount(&devices.count);
  if (result == cudaSuccess && devices.count > 0) return devices;
  static_cast<void>(cudaGetLastError());
  return unusable(result == cudaSuccess ? cudaErrorNoDevice : result);
}

std::string uuid_text(std::span<const char, 16> bytes, std::string_view name) {
  std::string text = name.find(" MIG ") == std::string_view::npos ? "GPU" : "MIG";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
}

bool is_shared_by_mps(int ordinal) {
  int enabled = 0;
  if (cudaDeviceGetAttribute(&enabled, cudaDevAttrMpsEnabled, ordinal) == cudaSuccess) {
    return enabled != 0;
  }
  static_cast<void>(cudaGetLastError());
  return false;
}

space::DeviceInfo cuda_device_info(int ordinal) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "query the properties of the GPU");
  return {
      .backend = "cuda",
      .name = properties.name,
      .uuid = uuid_text(properties.uuid.bytes, properties.name),
      .architecture = fmt::format("sm_{}{}", properties.major, properties.minor),
      .attributes = {
          .compute_capability = 10 * properties.major + properties.minor,
          .sm_count = properties.multiProcessorCount,
          .warp_size = properties.warpSize,
          .max_threads_per_block = properties.maxThreadsPerBlock,
          .max_threads_per_sm = properties.maxThreadsPerMultiProcessor,
          .max_blocks_per_sm = properties.maxBlocksPerMultiProcessor,
          .max_smem_per_block = static_cast<std::int64_t>(properties.sharedMemPerBlock),
          .max_smem_per_block_optin = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin),
          .smem_per_sm = static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor),
          .registers_per_block = properties.regsPerBlock,
          .registers_per_sm = properties.regsPerMultiprocessor,
          .l2_bytes = properties.l2CacheSize,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
      }};
}

std::string cuda_driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess || version == 0) return {};
  return version_text(version);
}

std::string driver_release(std::string_view module_text) {
  std::istringstream words{std::string(module_text.substr(0, module_text.find('\n')))};
  for (std::string word; words >> word;) {
    const bool digits_and_dots = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits_and_dots && word.find('.') != std::string::npos) return word;
  }
  return {};
}

std::string driver_identity() {
  std::ifstream module("/proc/driver/nvidia/version");
  std::string line;
  std::getline(module, line);
  if (std::string release = driver_release(line); !release.empty()) return release;
  const std::string version = cuda_driver_version();
  return version.empty() ? "" : "CUDA " + version;
}

}  // namespace tuner::backend
