// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/nvrtc_headers.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/source/standard_headers.hpp"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <string>
#include <system_error>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;

/// CUDA_VERSION as a folder's cuda.h defines it.
std::optional<int> version_of(const fs::path& folder) {
  constexpr std::string_view kDefinition = "#define CUDA_VERSION ";
  std::ifstream file(folder / "cuda.h");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(kDefinition)) return std::atoi(line.c_str() + kDefinition.size());
  }
  return std::nullopt;
}

/// 64 bits are `long long` as in libcu++'s <cuda/std/cstdint>, which defines the same names.
constexpr std::string_view kIntegers = R"(
using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using uint = unsigned int;
#ifndef __NVCC__
#define __NVCC__
#endif
namespace std {}
)";

/// As <cuda.h> and <cuda_runtime_api.h> define them, which nvcc includes before every source.
constexpr std::string_view kVersions = R"(
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION CUDA_VERSION
#endif
#define __extension__  // GNU's, which nvcc takes from the host's compiler
)";

/// NVRTC finds calls with one float and one double ambiguous, nvcc computes them in double.
constexpr std::string_view kMixedCalls = R"(
namespace tuner {
template <class T, class U> struct Mixed {};
template <> struct Mixed<float, double> { using type = double; };
template <> struct Mixed<double, float> { using type = double; };
}
#define TUNER_MIXED(name)                                                               \
  template <class T, class U>                                                           \
  __device__ inline typename ::tuner::Mixed<T, U>::type name(T x, U y) {                \
    return name(static_cast<double>(x), static_cast<double>(y));                        \
  }
TUNER_MIXED(pow) TUNER_MIXED(fmax) TUNER_MIXED(fmin) TUNER_MIXED(fmod) TUNER_MIXED(atan2)
TUNER_MIXED(hypot) TUNER_MIXED(copysign) TUNER_MIXED(fdim) TUNER_MIXED(remainder)
#undef TUNER_MIXED
)";

/// In place of the toolkit's <cuda_device_runtime_api.h>, which nvcc includes before every source.
/// Before compute capability 9.0 no launch is programmatic.
constexpr std::string_view kProgrammaticLaunches = R"(
#define __CUDA_DEVICE_RUNTIME_API_H__
__device__ inline void cudaGridDependencySynchronize() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ inline void cudaTriggerProgrammaticLaunchCompletion() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
)";

constexpr std::string_view kMath = R"(#pragma once
namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2;
using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf;
using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor;
using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::hypot; using ::isfinite;
using ::isinf; using ::isnan; using ::lgamma; using ::log; using ::log10; using ::log1p;
using ::log2; using ::lrint; using ::lround; using ::nearbyint; using ::pow; using ::rint;
using ::round; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan; using ::tanh;
using ::tgamma; using ::trunc;
}
)";

constexpr std::string_view kAlgorithm = R"(#pragma once
namespace std {
template <class T> __host__ __device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> __host__ __device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> __host__ __device__ constexpr const T& clamp(const T& x, const T& least, const T& most) {
  return x < least ? least : most < x ? most : x;
}
template <class T> __host__ __device__ constexpr void swap(T& a, T& b) { T old = a; a = b; b = old; }
}
)";

constexpr std::string_view kStdlib = R"(#pragma once
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
)";

/// The block and warp primitives; the rest of CUB is for host programs, and NVRTC refuses it.
constexpr std::string_view kCub = R"(#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/util_type.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
)";

/// A header of the C++ library by libcu++'s, whose names are of the namespace cuda::std.
source::Header by_libcudacxx(std::string_view name) {
  return {.name = std::string(name),
          .text = fmt::format("#pragma once\n#include <cuda/std/{}>\n"
                              "namespace std {{ using namespace ::cuda::std; }}\n",
                              name)};
}

std::vector<source::Header> make_headers() {
  std::vector<source::Header> headers;
  headers.push_back(
      {std::string(kNvrtcPrelude), fmt::format("{}{}{}{}{}", source::number_constants(), kIntegers,
                                               kVersions, kMixedCalls, kProgrammaticLaunches)});
  headers.push_back({std::string(kNvrtcStdFunctions), "#include <algorithm>\n#include <cmath>\n"});
  headers.push_back({std::string(kNvrtcStd),
                     "#include <algorithm>\n#include <cmath>\n#include <limits>\n"
                     "#include <type_traits>\n#include <utility>\n"});
  // These include the 16-bit types.
  for (const char* name : {"cublas_v2.h", "cublasLt.h"}) {
    headers.push_back({name, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"});
  }
  for (const char* name : {"math.h", "cmath"}) headers.push_back({name, std::string(kMath)});
  for (const char* name : {"stdlib.h", "cstdlib"}) headers.push_back({name, std::string(kStdlib)});
  headers.push_back({"algorithm", std::string(kAlgorithm)});
  headers.push_back({"cub/cub.cuh", std::string(kCub)});
  for (const char* name :
       {"array", "bit", "complex", "concepts", "initializer_list", "limits", "numbers", "optional",
        "span", "tuple", "type_traits", "utility", "variant"}) {
    headers.push_back(by_libcudacxx(name));
  }
  // The prelude and NVRTC itself have what kernels use of these.
  for (const char* name :
       {"assert.h", "cassert", "cfloat", "cinttypes", "climits", "cstdbool", "cstddef", "cstdint",
        "cstdio", "cstring", "float.h", "inttypes.h", "limits.h", "stdbool.h", "stddef.h",
        "stdint.h", "stdio.h", "string.h"}) {
    headers.push_back({name, ""});
  }
  for (const char* name :
       {"any",        "bitset",   "charconv",  "clocale",   "codecvt",  "csetjmp", "cwchar",
        "cwctype",    "locale",   "new",       "pthread.h", "ratio",    "sched.h", "shared_mutex",
        "stdalign.h", "stdarg.h", "strstream", "typeindex", "valarray", "wchar.h"}) {
    headers.push_back({name, ""});
  }
  for (const std::string_view name : source::host_only_headers()) {
    headers.push_back({std::string(name), ""});
  }
  return headers;
}

}  // namespace

std::vector<fs::path> toolkit_header_folders(std::span<const fs::path> candidates,
                                             int cuda_version) {
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    const fs::path folder = fs::canonical(candidate, error);
    if (error || folder == "/usr/include" || version_of(folder) != cuda_version) continue;
    std::vector<fs::path> folders = {folder};
    if (fs::is_directory(folder / "cccl", error)) folders.push_back(folder / "cccl");
    return folders;
  }
  return {};
}

std::vector<fs::path> toolkit_header_candidates(const fs::path& library) {
  std::vector<fs::path> candidates;
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  if (!error) {
    // lib64/ beside include/, or targets/x86_64-linux/lib/ beside its own.
    const fs::path above = real.parent_path().parent_path();
    candidates.push_back(above / "include");
    // Of NVIDIA's Python packages of CUDA 12 each has a folder of its own.
    candidates.push_back(above.parent_path() / "cuda_runtime/include");
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const fs::path value = environment_variable(variable);
    if (value.is_absolute()) candidates.push_back(value / "include");
  }
  candidates.emplace_back("/usr/local/cuda/include");
  return candidates;
}

const std::vector<source::Header>& nvrtc_headers() {
  static const std::vector<source::Header> headers = make_headers();
  return headers;
}

}  // namespace tuner::backend
