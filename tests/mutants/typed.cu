// SPDX-License-Identifier: Apache-2.0
// C = alpha·A·B in several types: the first 20 variants are right and differ in the order of the sums, the others have
// one mistake each (typed_test.py names them). VARIANT is an argument, so that a type is compiled once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

using bf16 = __nv_bfloat16;
using e4m3 = __nv_fp8_e4m3;
using e5m2 = __nv_fp8_e5m2;

enum Right {
  naive, backwards, two_parts, three_parts, four_parts_as_a_tree, seven_parts, sixteen_parts, even_then_odd, four_strides,
  thirty_two_strides, tiles_of_8, tiles_of_32, tiles_of_33, tiles_of_128, tiles_backwards, from_the_middle, fused, not_fused,
  compensated, in_double
};
enum Wrong {
  alpha_ignored = 20, k_tile_dropped, tail_dropped, last_dropped, one_term_twice, nothing_written, one_past, transposed,
  sums_in_bf16, sums_in_half, parts_in_the_result_type, tiles_in_half, products_in_the_type, toward_zero, rounded_twice,
  inputs_confused, result_confused, alpha_after_rounding, inputs_of_fewer_bits, result_of_fewer_bits, scale_ignored,
  scale_twice, saturation_missing, saturation_before_alpha, sums_saturated, sums_wrapped
};

__device__ inline float number(float x) { return x; }
__device__ inline float number(bf16 x) { return __bfloat162float(x); }
__device__ inline float number(__half x) { return __half2float(x); }
__device__ inline float number(e4m3 x) { return static_cast<float>(x); }
__device__ inline int number(signed char x) { return x; }

/// Of another type with as many bits.
__device__ inline float confused(float x) { return x; }
__device__ inline float confused(bf16 x) { return __half2float(__ushort_as_half(__bfloat16_as_ushort(x))); }
__device__ inline float confused(__half x) { return __bfloat162float(__ushort_as_bfloat16(__half_as_ushort(x))); }
__device__ inline float confused(e4m3 x) {
  e5m2 other;
  other.__x = x.__x;
  return static_cast<float>(other);
}
__device__ inline int confused(signed char x) { return static_cast<unsigned char>(x); }

__device__ inline float cut(float x, int bits) {
  return __uint_as_float(__float_as_uint(x) & ~((1u << (23 - bits)) - 1u));
}
/// To so many bits after the leading one; halves away from zero.
__device__ inline float kept(float x, int bits) {
  return cut(__uint_as_float(__float_as_uint(x) + (1u << (22 - bits))), bits);
}
__device__ inline int kept(int x, int) { return x; }

template <class T> struct Bits { static constexpr int kStored = 22; };
template <> struct Bits<bf16> { static constexpr int kStored = 7; };
template <> struct Bits<__half> { static constexpr int kStored = 10; };
template <> struct Bits<e4m3> { static constexpr int kStored = 3; };

__device__ inline void round_to(float sum, float& c) { c = sum; }
__device__ inline void round_to(float sum, bf16& c) { c = __float2bfloat16(sum); }
__device__ inline void round_to(float sum, __half& c) { c = __float2half(sum); }
__device__ inline void round_to(float sum, e4m3& c) { c = e4m3(sum); }
__device__ inline void round_to(int sum, int& c) { c = sum; }
__device__ inline void confuse(float sum, float& c) { c = sum; }
__device__ inline void confuse(float sum, bf16& c) { c = __ushort_as_bfloat16(__half_as_ushort(__float2half(sum))); }
__device__ inline void confuse(float sum, __half& c) { c = __ushort_as_half(__bfloat16_as_ushort(__float2bfloat16(sum))); }
__device__ inline void confuse(float sum, e4m3& c) { c.__x = e5m2(sum).__x; }
__device__ inline void confuse(int sum, int& c) { c = sum; }
__device__ inline bool is_too_large(float sum, const e4m3&) { return fabsf(sum) > 448.0f; }
template <class Sum, class C> __device__ bool is_too_large(Sum, const C&) { return false; }
__device__ inline void make_nan(e4m3& c) { c.__x = 0x7f; }
template <class C> __device__ void make_nan(C&) {}

template <class C> __device__ float as_result(float sum, C c) {
  round_to(sum, c);
  return number(c);
}
__device__ inline int as_result(int sum, int) { return sum; }

__device__ inline float fused_sum(float a, float b, float sum) { return fmaf(a, b, sum); }
__device__ inline int fused_sum(int a, int b, int sum) { return a * b + sum; }
__device__ inline float separate_sum(float a, float b, float sum) { return __fadd_rn(__fmul_rn(a, b), sum); }
__device__ inline int separate_sum(int a, int b, int sum) { return a * b + sum; }

template <class T, class C, class Sum>
__device__ void multiply(int variant, int M, int N, int K, Sum alpha, Sum scale, const T* A, const T* B, C* c_all) {
  const int column = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= M || column >= N) return;
  C& c = c_all[row * N + column];
  const auto a = [&](int k) {
    const T x = A[row * K + k];
    if (variant == inputs_confused) return confused(x);
    return variant == inputs_of_fewer_bits ? kept(number(x), Bits<T>::kStored < 22 ? Bits<T>::kStored - 1 : 10) : number(x);
  };
  const auto b = [&](int k) {
    const T x = variant == transposed ? B[column * K + k] : B[k * N + column];
    return variant == inputs_confused ? confused(x) : number(x);
  };
  const auto strided = [&](int first, int end, int step) {
    Sum sum = 0;
    for (int k = first; k < end; k += step) sum += a(k) * b(k);
    return sum;
  };
  const auto range = [&](int first, int end) { return strided(first, end, 1); };
  const auto parts = [&](int count) {
    Sum sum = 0;
    const int each = (K + count - 1) / count;
    for (int first = 0; first < K; first += each) sum += range(first, min(first + each, K));
    return sum;
  };
  const auto tiles = [&](int size) {
    Sum sum = 0;
    for (int k = 0; k < K; k += size) sum += range(k, min(k + size, K));
    return sum;
  };
  Sum sum = 0;
  switch (variant) {
    case backwards: for (int k = K; k-- > 0;) sum += a(k) * b(k); break;
    case two_parts: sum = parts(2); break;
    case three_parts: sum = parts(3); break;
    case four_parts_as_a_tree:
      sum = (range(0, K / 4) + range(K / 4, K / 2)) + (range(K / 2, K / 4 * 3) + range(K / 4 * 3, K));
      if (K / 4 * 2 != K / 2) sum = range(0, K);
      break;
    case seven_parts: sum = parts(7); break;
    case sixteen_parts: sum = parts(16); break;
    case even_then_odd: sum = strided(0, K, 2) + strided(1, K, 2); break;
    case four_strides: for (int i = 0; i < 4; ++i) sum += strided(i, K, 4); break;
    case thirty_two_strides: for (int i = 0; i < 32; ++i) sum += strided(i, K, 32); break;
    case tiles_of_8: sum = tiles(8); break;
    case tiles_of_32: sum = tiles(32); break;
    case tiles_of_33: sum = tiles(33); break;
    case tiles_of_128: sum = tiles(128); break;
    case tiles_backwards: for (int k = (K - 1) / 32 * 32; k >= 0; k -= 32) sum += range(k, min(k + 32, K)); break;
    case from_the_middle: sum = range(K / 2, K) + range(0, K / 2); break;
    case fused: for (int k = 0; k < K; ++k) sum = fused_sum(a(k), b(k), sum); break;
    case not_fused: for (int k = 0; k < K; ++k) sum = separate_sum(a(k), b(k), sum); break;
    case compensated: {
      Sum lost = 0;
      for (int k = 0; k < K; ++k) {
        const Sum term = a(k) * b(k) - lost, total = sum + term;
        lost = (total - sum) - term;
        sum = total;
      }
      break;
    }
    case in_double: {
      double total = 0;
      for (int k = 0; k < K; ++k) total += static_cast<double>(a(k)) * static_cast<double>(b(k));
      sum = static_cast<Sum>(total);
      break;
    }
    case k_tile_dropped: sum = range(0, K >= 4096 ? K - 32 : K); break;
    case tail_dropped: sum = range(0, K > 32 ? K / 32 * 32 : K); break;
    case last_dropped: sum = range(0, K - 1); break;
    case one_term_twice: sum = range(0, K) + a(K - 1) * b(K - 1); break;
    case sums_in_bf16: for (int k = 0; k < K; ++k) sum = as_result(static_cast<float>(sum + a(k) * b(k)), bf16()); break;
    case sums_in_half: for (int k = 0; k < K; ++k) sum = as_result(static_cast<float>(sum + a(k) * b(k)), __half()); break;
    case parts_in_the_result_type: sum = as_result(range(0, K / 2), C()) + as_result(range(K / 2, K), C()); break;
    case tiles_in_half:
      for (int k = 0; k < K; k += 32) sum += as_result(static_cast<float>(range(k, min(k + 32, K))), __half());
      break;
    case products_in_the_type:
      for (int k = 0; k < K; ++k) {
        const Sum product = a(k) * b(k);
        sum += Bits<T>::kStored < 22 ? as_result(product, C()) : kept(product, 10);
      }
      break;
    case sums_saturated:
      for (int k = 0; k < K; ++k) sum = max(min(sum + a(k) * b(k), static_cast<Sum>(32767)), static_cast<Sum>(-32768));
      break;
    case sums_wrapped: for (int k = 0; k < K; ++k) sum = static_cast<short>(static_cast<int>(sum + a(k) * b(k))); break;
    default: sum = range(0, K);
  }
  if (variant == nothing_written && row == M - 1) return;
  if (variant == alpha_after_rounding) sum = as_result(sum, C());
  if (variant == saturation_before_alpha) sum = max(min(sum, static_cast<Sum>(448)), static_cast<Sum>(-448));
  if (variant != alpha_ignored) sum *= alpha;
  if (variant != scale_ignored) sum *= scale;
  if (variant == scale_twice) sum *= scale;
  if (variant == toward_zero) sum = static_cast<Sum>(cut(static_cast<float>(sum), Bits<C>::kStored));
  if (variant == rounded_twice) sum = kept(sum, Bits<C>::kStored + 1);
  if (variant == result_of_fewer_bits) sum = kept(sum, Bits<C>::kStored < 22 ? Bits<C>::kStored - 1 : 10);
  if (variant == result_confused) {
    confuse(sum, c);
  } else if (variant == saturation_missing && is_too_large(sum, c)) {
    make_nan(c);
  } else {
    round_to(sum, c);
  }
  if (variant == one_past && row == M - 1 && column == N - 1) c_all[row * N + column + 1] = c_all[0];
}

template <class T, class C, class Sum>
__global__ void typed(int variant, int M, int N, int K, Sum alpha, const T* A, const T* B, C* result) {
  multiply(variant, M, N, K, alpha, static_cast<Sum>(1), A, B, result);
}

/// With the product of the matrices' scales, and results that saturate.
__global__ void scaled(int variant, int M, int N, int K, float alpha, float scale, const e4m3* A, const e4m3* B, e4m3* result) {
  multiply(variant, M, N, K, alpha, scale, A, B, result);
}
