// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/shared_library.hpp"

#include "tuner/backend/cuda/versions.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/installed_file.hpp"

#include <fmt/format.h>

#include <cuda_runtime_api.h>

#include <array>
#include <dlfcn.h>

namespace tuner::backend {
namespace {

constexpr int kBuiltMajor = CUDART_VERSION / 1000;

/// Folders of NVIDIA's Python packages beside that of a wheel, whose prefix is
/// site-packages/tuner/prefix/. Each package of CUDA 12 has one; those of 13 share one.
constexpr std::array kPackageFolders = {"cu13", "cublas", "cuda_nvrtc", "cuda_cupti"};

void* open_or_null(const std::string& file_name) {
  // CUPTI may lie in a folder of its own.
  constexpr std::array kFolders = {"", TUNER_CUDA_LIBRARY_DIR "/", "/usr/local/cuda/lib64/",
                                   TUNER_CUDA_LIBRARY_DIR "/../extras/CUPTI/lib64/",
                                   "/usr/local/cuda/extras/CUPTI/lib64/"};
  for (const char* folder : kFolders) {
    if (void* handle = ::dlopen((folder + file_name).c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  for (const char* folder : kPackageFolders) {
    const auto packaged = installed_file(fmt::format("../../nvidia/{}/lib/{}", folder, file_name));
    if (!packaged) continue;
    if (void* handle = ::dlopen(packaged->c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

std::string not_found(const std::string& file_name, SharedLibrary::Origin origin) {
  if (origin == SharedLibrary::Origin::driver) {
    return fmt::format(
        "no NVIDIA driver found ({}): install one that supports CUDA {} "
        "(https://www.nvidia.com/drivers)",
        file_name, version_text(kOldestDriver));
  }
  return fmt::format(
      "{} of the CUDA Toolkit was not found. Install the toolkit "
      "(https://developer.nvidia.com/cuda-downloads) or, beside the wheel, "
      "NVIDIA's Python packages of CUDA {}, or add the folder that "
      "holds the library to LD_LIBRARY_PATH.",
      file_name, kBuiltMajor);
}

}  // namespace

SharedLibrary::SharedLibrary(const std::string& file_name, Origin origin)
    : SharedLibrary(file_name, origin, open_or_null(file_name)) {
  if (handle_ == nullptr) throw Error(ErrorCode::no_device, not_found(file_name, origin));
}

SharedLibrary SharedLibrary::of_toolkit(const std::string& name) {
  for (int major = kBuiltMajor; major >= kOldestToolkit / 1000; --major) {
    std::string file_name = fmt::format("{}.so.{}", name, major);
    if (void* handle = open_or_null(file_name)) {
      return {std::move(file_name), Origin::toolkit, handle};
    }
  }
  throw Error(ErrorCode::no_device,
              not_found(fmt::format("{}.so.{}", name, kBuiltMajor), Origin::toolkit));
}

/// A library that was preloaded may answer dlsym(3) with functions of its own, as
/// libtuner_cublas.so does for cuBLAS; it has none of the library's version.
SharedLibrary::Symbol SharedLibrary::symbol(const char* name) const {
  if (void* address = ::dlvsym(handle_, name, file_name_.c_str())) return Symbol(address);
  if (void* address = ::dlsym(handle_, name)) return Symbol(address);
  if (origin_ == Origin::driver) {
    throw Error(ErrorCode::no_device,
                fmt::format("the NVIDIA driver has no function {}: update it to one that supports "
                            "CUDA {} (https://www.nvidia.com/drivers)",
                            name, version_text(kOldestDriver)));
  }
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
