// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/kernel_headers.hpp"

#include "embedded/byte_floats_on_cpu.hpp"
#include "embedded/cooperative_groups_on_cpu.hpp"
#include "embedded/cub_on_cpu.hpp"
#include "embedded/cuda_math_on_cpu.hpp"
#include "embedded/cuda_on_cpu.hpp"
#include "embedded/directed_rounding_on_cpu.hpp"
#include "embedded/half_on_cpu.hpp"
#include "embedded/interleaving_on_cpu.hpp"
#include "embedded/kernel_abi.hpp"
#include "embedded/special_functions_on_cpu.hpp"
#include "embedded/standard_math_on_cpu.hpp"
#include "tuner/source/standard_headers.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tuner::backend {
namespace {

constexpr std::string_view kStdlib = R"(#pragma once
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
#define RAND_MAX 2147483647
)";

// <array> brings std::min, max and swap; the C++ library's <algorithm> needs the real <cstdlib>.
constexpr std::string_view kAlgorithm = R"(#pragma once
#include <array>
namespace std {
template <class T> constexpr const T& clamp(const T& x, const T& least, const T& most) {
  return x < least ? least : most < x ? most : x;
}
}
)";

constexpr std::string_view kFunctional = R"(#pragma once
namespace cuda {
struct maximum_of { template <class T> T operator()(T a, T b) const { return a < b ? b : a; } };
struct minimum_of { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
template <class T = void> struct maximum : maximum_of {};
template <class T = void> struct minimum : minimum_of {};
namespace std {
template <class T = void> struct plus { template <class U> U operator()(U a, U b) const { return a + b; } };
template <class T = void> struct minus { template <class U> U operator()(U a, U b) const { return a - b; } };
template <class T = void> struct multiplies { template <class U> U operator()(U a, U b) const { return a * b; } };
}
}
)";

constexpr std::string_view kConstants = R"(#pragma once
#define CUDART_INF_F INFINITY
#define CUDART_NAN_F NAN
#define CUDART_INF HUGE_VAL
#define CUDART_NAN (static_cast<double>(NAN))
#define CUDART_MAX_NORMAL_F FLT_MAX
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_LN2_F 0.693147181f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LNT_F 2.302585093f
#define CUDART_PI M_PI
#define CUDART_PIO2 M_PI_2
#define CUDART_SQRT_TWO M_SQRT2
#define CUDART_LN2 M_LN2
#define CUDART_L2E M_LOG2E
)";

source::Header header(std::string_view name, std::string_view text) {
  return {.name = std::string(name), .text = std::string(text)};
}

/// libcu++'s header by the host's own.
source::Header of_cuda_std(std::string_view name) {
  return header(fmt::format("cuda/std/{}", name),
                fmt::format("#pragma once\n#include <{}>\n"
                            "namespace cuda {{ namespace std {{ using namespace ::std; }} }}\n",
                            name));
}

std::vector<source::Header> make_headers() {
  std::vector<source::Header> headers = {
      header("cublas_v2.h", "#include <cuda_fp16.h>\n"),
      header("cublasLt.h", "#include <cuda_fp16.h>\n"),
      header("math.h", embedded::standard_math_on_cpu()),
      header("cmath", embedded::standard_math_on_cpu()),
      header("stdlib.h", kStdlib),
      header("cstdlib", kStdlib),
      header("algorithm", kAlgorithm),
      header("assert.h", ""),
      header("cassert", ""),
      header("math_constants.h", kConstants),
      header("cuda_fp16.h", embedded::half_on_cpu()),
      header("cuda_bf16.h", "#include <cuda_fp16.h>\n"),
      header("cuda_fp8.h", embedded::byte_floats_on_cpu()),
      header("cooperative_groups.h", embedded::cooperative_groups_on_cpu()),
      header("cooperative_groups/reduce.h", "#include <cooperative_groups.h>\n"),
      header("cooperative_groups/scan.h", "#include <cooperative_groups.h>\n"),
      header("cub/cub.cuh", embedded::cub_on_cpu()),
      header(kKernelStd,
             "#include <algorithm>\n#include <cmath>\n#include <limits>\n#include <type_traits>\n"
             "#include <utility>\n"),
      header("cuda/functional", kFunctional),
      header("cuda/std/functional", kFunctional)};
  for (const char* part :
       {"block/block_load", "block/block_reduce", "block/block_scan", "block/block_store",
        "thread/thread_operators", "util_type", "warp/warp_reduce", "warp/warp_scan"}) {
    headers.push_back(header(fmt::format("cub/{}.cuh", part), "#include <cub/cub.cuh>\n"));
  }
  for (const char* name :
       {"array", "cmath", "cstddef", "cstdint", "limits", "tuple", "type_traits", "utility"}) {
    headers.push_back(of_cuda_std(name));
  }
  // The prelude has what kernels use of these.
  for (const char* name :
       {"cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "curand.h", "device_atomic_functions.h",
        "device_functions.h", "device_launch_parameters.h", "driver_types.h", "host_defines.h",
        "math_functions.h", "sm_20_atomic_functions.h", "sm_30_intrinsics.h",
        "sm_60_atomic_functions.h", "vector_functions.h", "vector_types.h"}) {
    headers.push_back(header(name, ""));
  }
  for (const std::string_view name : source::host_only_headers())
    headers.push_back(header(name, ""));
  return headers;
}

}  // namespace

const std::vector<source::Header>& kernel_prelude() {
  static const std::vector<source::Header> headers = {
      header("cuda_on_cpu.hpp", embedded::cuda_on_cpu()),
      header("cuda_math_on_cpu.hpp", embedded::cuda_math_on_cpu()),
      header("directed_rounding_on_cpu.hpp", embedded::directed_rounding_on_cpu()),
      header("special_functions_on_cpu.hpp", embedded::special_functions_on_cpu()),
      header("kernel_abi.hpp", embedded::kernel_abi()),
      header(kInterleaving, embedded::interleaving_on_cpu()),
      header("number_constants.h", source::number_constants())};
  return headers;
}

const std::vector<source::Header>& kernel_headers() {
  static const std::vector<source::Header> headers = make_headers();
  return headers;
}

}  // namespace tuner::backend
