// SPDX-License-Identifier: Apache-2.0
// Shared by the families of the corpus: -DVARIANT=<name> selects a variant; IS(name) tests for it at
// compile time. Each mutant has one mistake, where IS tests for its name.
#pragma once

#ifndef VARIANT
#define VARIANT plain  // for the reference, which has no variants
#endif

namespace corpus {

__host__ __device__ constexpr bool same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) {
    ++a;
    ++b;
  }
  return *a == *b;
}

template <bool kValue>
struct Constant {
  static constexpr bool value = kValue;
};

/// Rounds to `bits` bits of significand after the leading one.
__device__ inline float rounded(float x, int bits) {
  const unsigned dropped = 23u - (unsigned)bits;
  return __uint_as_float((__float_as_uint(x) + (1u << (dropped - 1))) & ~((1u << dropped) - 1u));
}
__device__ inline float to_tf32(float x) {
  return rounded(x, 10);
}
/// Rounds the significand only; the exponent keeps the range of float.
__device__ inline float to_half(float x) {
  return rounded(x, 10);
}
__device__ inline float to_bf16(float x) {
  return rounded(x, 7);
}

}  // namespace corpus

#define CORPUS_TEXT(name) #name
#define CORPUS_NAME(name) CORPUS_TEXT(name)
#define IS(name) (::corpus::Constant<::corpus::same(CORPUS_NAME(VARIANT), #name)>::value)
