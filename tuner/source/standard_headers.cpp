// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/standard_headers.hpp"

#include "tuner/source/framework_headers.hpp"

#include <algorithm>
#include <array>

namespace tuner::source {
namespace {

constexpr std::array<std::string_view, 107> kHostOnly = {"Python.h",
                                                         "arpa/inet.h",
                                                         "atomic",
                                                         "cctype",
                                                         "cerrno",
                                                         "chrono",
                                                         "condition_variable",
                                                         "csignal",
                                                         "cstdarg",
                                                         "ctime",
                                                         "ctype.h",
                                                         "cublasXt.h",
                                                         "cudaGL.h",
                                                         "cudaProfiler.h",
                                                         "cuda_egl_interop.h",
                                                         "cuda_gl_interop.h",
                                                         "cuda_profiler_api.h",
                                                         "cudnn.h",
                                                         "cufft.h",
                                                         "cufftXt.h",
                                                         "cufftw.h",
                                                         "cupti.h",
                                                         "cusolverDn.h",
                                                         "cusolverSp.h",
                                                         "cusolver_common.h",
                                                         "cusparse.h",
                                                         "cusparse_v2.h",
                                                         "cxxabi.h",
                                                         "deque",
                                                         "direct.h",
                                                         "dirent.h",
                                                         "dlfcn.h",
                                                         "errno.h",
                                                         "exception",
                                                         "exception.h",
                                                         "execution",
                                                         "fcntl.h",
                                                         "filesystem",
                                                         "forward_list",
                                                         "fstream",
                                                         "functional",
                                                         "future",
                                                         "getopt.h",
                                                         "glob.h",
                                                         "helper_cuda.h",
                                                         "helper_functions.h",
                                                         "helper_image.h",
                                                         "helper_string.h",
                                                         "helper_timer.h",
                                                         "io.h",
                                                         "iomanip",
                                                         "ios",
                                                         "iosfwd",
                                                         "iostream",
                                                         "iterator",
                                                         "libgen.h",
                                                         "list",
                                                         "locale.h",
                                                         "malloc.h",
                                                         "map",
                                                         "memory",
                                                         "memory.h",
                                                         "mpi.h",
                                                         "mutex",
                                                         "nccl.h",
                                                         "netdb.h",
                                                         "netinet/in.h",
                                                         "netinet/tcp.h",
                                                         "numeric",
                                                         "nvToolsExt.h",
                                                         "nvml.h",
                                                         "nvrtc.h",
                                                         "omp.h",
                                                         "ostream",
                                                         "poll.h",
                                                         "queue",
                                                         "random",
                                                         "regex",
                                                         "set",
                                                         "signal.h",
                                                         "sstream",
                                                         "stack",
                                                         "stdexcept",
                                                         "string",
                                                         "string_view",
                                                         "strings.h",
                                                         "sys/ioctl.h",
                                                         "sys/mman.h",
                                                         "sys/poll.h",
                                                         "sys/resource.h",
                                                         "sys/socket.h",
                                                         "sys/stat.h",
                                                         "sys/syscall.h",
                                                         "sys/sysinfo.h",
                                                         "sys/time.h",
                                                         "sys/types.h",
                                                         "sys/un.h",
                                                         "sys/utsname.h",
                                                         "sys/wait.h",
                                                         "thread",
                                                         "time.h",
                                                         "typeinfo",
                                                         "unistd.h",
                                                         "unordered_map",
                                                         "unordered_set",
                                                         "vector",
                                                         "windows.h"};

/// Of the C and C++ library, those that have a text on every backend.
constexpr std::array<std::string_view, 56> kLibrary = {
    "algorithm",  "any",        "array",
    "assert.h",   "bit",        "bitset",
    "cassert",    "cfloat",     "charconv",
    "cinttypes",  "climits",    "clocale",
    "cmath",      "codecvt",    "complex",
    "concepts",   "csetjmp",    "cstdbool",
    "cstddef",    "cstdint",    "cstdio",
    "cstdlib",    "cstring",    "cwchar",
    "cwctype",    "float.h",    "initializer_list",
    "inttypes.h", "limits",     "limits.h",
    "locale",     "math.h",     "new",
    "numbers",    "optional",   "pthread.h",
    "ratio",      "sched.h",    "shared_mutex",
    "span",       "stdalign.h", "stdarg.h",
    "stdbool.h",  "stddef.h",   "stdint.h",
    "stdio.h",    "stdlib.h",   "string.h",
    "strstream",  "tuple",      "type_traits",
    "typeindex",  "utility",    "valarray",
    "variant",    "wchar.h"};

/// Of the toolkit.
constexpr std::array<std::string_view, 69> kToolkit = {"builtin_types.h",
                                                       "channel_descriptor.h",
                                                       "common_functions.h",
                                                       "cooperative_groups.h",
                                                       "cuComplex.h",
                                                       "cublasLt.h",
                                                       "cublas_v2.h",
                                                       "cuda.h",
                                                       "cudaTypedefs.h",
                                                       "cuda_awbarrier.h",
                                                       "cuda_awbarrier_helpers.h",
                                                       "cuda_awbarrier_primitives.h",
                                                       "cuda_bf16.h",
                                                       "cuda_bf16.hpp",
                                                       "cuda_device_runtime_api.h",
                                                       "cuda_fp16.h",
                                                       "cuda_fp16.hpp",
                                                       "cuda_fp4.h",
                                                       "cuda_fp6.h",
                                                       "cuda_fp8.h",
                                                       "cuda_fp8.hpp",
                                                       "cuda_occupancy.h",
                                                       "cuda_pipeline.h",
                                                       "cuda_pipeline_helpers.h",
                                                       "cuda_pipeline_primitives.h",
                                                       "cuda_runtime.h",
                                                       "cuda_runtime_api.h",
                                                       "curand.h",
                                                       "curand_discrete.h",
                                                       "curand_globals.h",
                                                       "curand_kernel.h",
                                                       "curand_lognormal.h",
                                                       "curand_mrg32k3a.h",
                                                       "curand_mtgp32.h",
                                                       "curand_mtgp32_host.h",
                                                       "curand_mtgp32_kernel.h",
                                                       "curand_normal.h",
                                                       "curand_philox4x32_x.h",
                                                       "curand_poisson.h",
                                                       "curand_precalc.h",
                                                       "curand_uniform.h",
                                                       "device_atomic_functions.h",
                                                       "device_double_functions.h",
                                                       "device_functions.h",
                                                       "device_launch_parameters.h",
                                                       "device_types.h",
                                                       "driver_types.h",
                                                       "host_defines.h",
                                                       "library_types.h",
                                                       "math_constants.h",
                                                       "math_functions.h",
                                                       "mma.h",
                                                       "sm_20_atomic_functions.h",
                                                       "sm_20_intrinsics.h",
                                                       "sm_30_intrinsics.h",
                                                       "sm_32_atomic_functions.h",
                                                       "sm_32_intrinsics.h",
                                                       "sm_35_atomic_functions.h",
                                                       "sm_35_intrinsics.h",
                                                       "sm_60_atomic_functions.h",
                                                       "sm_61_intrinsics.h",
                                                       "surface_functions.h",
                                                       "surface_indirect_functions.h",
                                                       "surface_types.h",
                                                       "texture_fetch_functions.h",
                                                       "texture_indirect_functions.h",
                                                       "texture_types.h",
                                                       "vector_functions.h",
                                                       "vector_types.h"};

/// Folders of the toolkit.
constexpr std::array<std::string_view, 6> kFolders = {
    "cooperative_groups/", "cub/", "cuda/", "nv/", "thrust/", "crt/"};

constexpr std::string_view kConstants = R"(#pragma once
#define INFINITY (__builtin_bit_cast(float, 0x7f800000))
#define NAN (__builtin_bit_cast(float, 0x7fc00000))
#define HUGE_VALF INFINITY
#define HUGE_VAL (__builtin_bit_cast(double, 0x7ff0000000000000))
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_EXP 128
#define FLT_MAX_10_EXP 38
#define FLT_MAX 3.40282346638528859811704183484516925e+38F
#define FLT_MIN 1.17549435082228750796873653722224568e-38F
#define FLT_TRUE_MIN 1.40129846432481707092372958328991613e-45F
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_EXP 1024
#define DBL_MAX_10_EXP 308
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#define DBL_TRUE_MIN 4.94065645841246544176568792868221372e-324
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#ifdef __CHAR_UNSIGNED__
#define CHAR_MIN 0
#define CHAR_MAX UCHAR_MAX
#else
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#endif
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX ULLONG_MAX
)";

}  // namespace

std::span<const std::string_view> host_only_headers() {
  return kHostOnly;
}

bool is_standard_header(std::string_view name) {
  return std::ranges::find(kHostOnly, name) != kHostOnly.end() ||
         std::ranges::find(kLibrary, name) != kLibrary.end() || is_toolkit_header(name) ||
         is_framework_header(name);
}

bool is_toolkit_header(std::string_view name) {
  const auto begins = [&](std::string_view folder) { return name.starts_with(folder); };
  return std::ranges::find(kToolkit, name) != kToolkit.end() ||
         std::ranges::any_of(kFolders, begins);
}

std::string_view number_constants() {
  return kConstants;
}

}  // namespace tuner::source
