// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/shared_library.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/installed_file.hpp"

#include <fmt/format.h>

#include <cuda_runtime_api.h>

#include <array>
#include <dlfcn.h>
#include <optional>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;

/// In NVIDIA's Python packages beside that of a wheel: its prefix is site-packages/tuner/prefix/.
std::optional<fs::path> in_python_packages(const std::string& file_name) {
  constexpr int kMajor = CUDART_VERSION / 1000;
  return installed_file(fmt::format("../../nvidia/cu{}/lib/{}", kMajor, file_name));
}

void* open_library(const std::string& file_name) {
  // CUPTI may lie in a folder of its own.
  constexpr std::array kFolders = {"", TUNER_CUDA_LIBRARY_DIR "/", "/usr/local/cuda/lib64/",
                                   TUNER_CUDA_LIBRARY_DIR "/../extras/CUPTI/lib64/",
                                   "/usr/local/cuda/extras/CUPTI/lib64/"};
  for (const char* folder : kFolders) {
    if (void* handle = ::dlopen((folder + file_name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  if (const auto packaged = in_python_packages(file_name)) {
    if (void* handle = ::dlopen(packaged->c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  throw Error(ErrorCode::no_device,
              fmt::format("{} of the CUDA Toolkit was not found. Install the toolkit "
                          "(https://developer.nvidia.com/cuda-downloads) or, beside the wheel, "
                          "NVIDIA's Python packages of CUDA {}, or add the folder that "
                          "holds the library to LD_LIBRARY_PATH.",
                          file_name, CUDART_VERSION / 1000));
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& file_name)
    : file_name_(file_name), handle_(open_library(file_name)) {}

/// A library that was preloaded may answer dlsym(3) with functions of its own, as
/// libtuner_cublas.so does for cuBLAS; it has none of the library's version.
SharedLibrary::Symbol SharedLibrary::symbol(const char* name) const {
  if (void* address = ::dlvsym(handle_, name, file_name_.c_str())) return Symbol(address);
  if (void* address = ::dlsym(handle_, name)) return Symbol(address);
  throw Error(ErrorCode::no_device,
              fmt::format("{} has no function {}: it belongs to another version of the CUDA "
                          "Toolkit. Put the one this program was built for first on "
                          "LD_LIBRARY_PATH.",
                          file_name_, name));
}

std::filesystem::path SharedLibrary::path(const char* name) const {
  Dl_info info{};
  const void* const address = ::dlsym(handle_, name);
  if (address == nullptr || ::dladdr(address, &info) == 0) return {};
  return info.dli_fname;
}

}  // namespace tuner::backend
