// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/framework_headers.hpp"

#include "tuner/source/include.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace tuner::source {
namespace {

constexpr std::array<std::string_view, 8> kFrameworkFolders = {
    "ATen/", "c10/", "caffe2/", "nvtx3/", "pybind11/", "TH/", "THC/", "torch/"};

constexpr std::string_view kDeclarations = R"(#pragma once
namespace c10 { namespace cuda {} }
namespace at { namespace cuda {} namespace native {} using namespace c10; }
namespace torch { namespace indexing {} namespace autograd {} namespace nn { namespace functional {} } using namespace at; }
namespace pybind11 { namespace literals {} }
#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_WARP_SIZE 32
#define C10_UNUSED __attribute__((__unused__))
#define C10_ALWAYS_INLINE __forceinline__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                       \
  for (index_type i = blockIdx.x * static_cast<index_type>(blockDim.x) + threadIdx.x; \
       i < (n); i += static_cast<index_type>(blockDim.x) * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
template <class T>
__device__ inline T WARP_SHFL(T value, int source, int width = 32, unsigned mask = 0xffffffffu) {
  return __shfl_sync(mask, value, source, width);
}
template <class T>
__device__ inline T WARP_SHFL_XOR(T value, int lanes, int width = 32, unsigned mask = 0xffffffffu) {
  return __shfl_xor_sync(mask, value, lanes, width);
}
template <class T>
__device__ inline T WARP_SHFL_UP(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffffu) {
  return __shfl_up_sync(mask, value, delta, width);
}
template <class T>
__device__ inline T WARP_SHFL_DOWN(T value, unsigned delta, int width = 32, unsigned mask = 0xffffffffu) {
  return __shfl_down_sync(mask, value, delta, width);
}
__device__ inline unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffffu) {
  return __ballot_sync(mask, predicate);
}
template <class T>
__device__ inline T gpuAtomicAdd(T* address, T value) {
  return atomicAdd(address, value);
}
namespace c10 {
template <class T> struct OpMathType { using type = T; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool kIsCuda> struct AccumulateType { using type = T; };
template <bool kIsCuda> struct AccumulateType<signed char, kIsCuda> { using type = long long; };
template <bool kIsCuda> struct AccumulateType<unsigned char, kIsCuda> { using type = long long; };
template <bool kIsCuda> struct AccumulateType<short, kIsCuda> { using type = long long; };
template <bool kIsCuda> struct AccumulateType<int, kIsCuda> { using type = long long; };
template <class T, bool kIsCuda> using acc_type = typename AccumulateType<T, kIsCuda>::type;
template <class T> __host__ __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
}
)";

/// Arithmetic as PyTorch's: of two such numbers, and of one and a whole number, it is rounded to
/// the type; beside a float or a double it is not.
constexpr std::string_view kTypes = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define TUNER_TORCH_OPERATOR(Name, op)                                                               \
  friend __host__ __device__ Name operator op(Name a, Name b) { return float(a) op float(b); }       \
  friend __host__ __device__ float operator op(Name a, float b) { return float(a) op b; }            \
  friend __host__ __device__ float operator op(float a, Name b) { return a op float(b); }            \
  friend __host__ __device__ double operator op(Name a, double b) { return double(float(a)) op b; }  \
  friend __host__ __device__ double operator op(double a, Name b) { return a op double(float(b)); }  \
  friend __host__ __device__ Name operator op(Name a, int b) { return float(a) op float(b); }        \
  friend __host__ __device__ Name operator op(int a, Name b) { return float(a) op float(b); }        \
  friend __host__ __device__ Name operator op(Name a, long long b) { return float(a) op float(b); }  \
  friend __host__ __device__ Name operator op(long long a, Name b) { return float(a) op float(b); }  \
  friend __host__ __device__ Name& operator op##=(Name& a, Name b) { return a = float(a) op float(b); }
#define TUNER_TORCH_COMPARISON(Name, op) \
  friend __host__ __device__ bool operator op(Name a, Name b) { return float(a) op float(b); }
#define TUNER_TORCH_NUMBER(Name, Device, to_float, from_float)                            \
  namespace c10 {                                                                         \
  struct alignas(2) Name {                                                                \
    unsigned short x;                                                                     \
    struct from_bits_t {};                                                                \
    __host__ __device__ static constexpr from_bits_t from_bits() { return {}; }           \
    Name() = default;                                                                     \
    __host__ __device__ constexpr Name(unsigned short bits, from_bits_t) : x(bits) {}     \
    __host__ __device__ Name(float value) : Name(from_float(value)) {}                    \
    __host__ __device__ Name(const Device& value) { memcpy(&x, &value, 2); }    \
    __host__ __device__ operator Device() const {                                         \
      Device value;                                                                       \
      memcpy(&value, &x, 2);                                                    \
      return value;                                                                       \
    }                                                                                     \
    __host__ __device__ operator float() const { return to_float(Device(*this)); }        \
    friend __host__ __device__ Name operator-(Name a) { return -float(a); }               \
    TUNER_TORCH_OPERATOR(Name, +) TUNER_TORCH_OPERATOR(Name, -)                           \
    TUNER_TORCH_OPERATOR(Name, *) TUNER_TORCH_OPERATOR(Name, /)                           \
    TUNER_TORCH_COMPARISON(Name, <) TUNER_TORCH_COMPARISON(Name, >)                       \
    TUNER_TORCH_COMPARISON(Name, <=) TUNER_TORCH_COMPARISON(Name, >=)                     \
    TUNER_TORCH_COMPARISON(Name, ==) TUNER_TORCH_COMPARISON(Name, !=)                     \
  };                                                                                      \
  __device__ inline Name __ldg(const Name* address) { return *address; }                  \
  template <> struct OpMathType<Name> { using type = float; };                            \
  template <bool kIsCuda> struct AccumulateType<Name, kIsCuda> { using type = float; };   \
  }
TUNER_TORCH_NUMBER(Half, __half, __half2float, __float2half)
TUNER_TORCH_NUMBER(BFloat16, __nv_bfloat16, __bfloat162float, __float2bfloat16)
#undef TUNER_TORCH_NUMBER
#undef TUNER_TORCH_COMPARISON
#undef TUNER_TORCH_OPERATOR
)";

}  // namespace

bool is_framework_header(std::string_view name) {
  const auto begins = [&](std::string_view folder) { return name.starts_with(folder); };
  return std::ranges::any_of(kFrameworkFolders, begins);
}

std::vector<std::string> foreign_includes(const KernelSource& source) {
  std::set<std::string> names;
  const auto add = [&](std::string_view text) {
    for (const Include& include : includes(text)) {
      if (include.problem.empty()) names.insert(include.name);
    }
  };
  add(source.text);
  for (const Header& header : source.headers) add(header.text);
  for (const Header& header : source.headers) names.erase(header.name);
  return {names.begin(), names.end()};
}

std::string framework_declarations(const KernelSource& source,
                                   std::span<const std::string> entries) {
  const auto names_type = [](std::string_view text) {
    return text.find("Half") != std::string_view::npos ||
           text.find("BFloat16") != std::string_view::npos;
  };
  const bool has_types = any_text(source, names_type) || std::ranges::any_of(entries, names_type);
  return std::string(kDeclarations) + std::string(has_types ? kTypes : std::string_view());
}

}  // namespace tuner::source
