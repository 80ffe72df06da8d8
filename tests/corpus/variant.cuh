// SPDX-License-Identifier: Apache-2.0
// What the families of the corpus share: -DVARIANT=<name> chooses a variant, IS(name) asks for it,
// when it is compiled. Every mutant is one mistake, made where its name stands.
#pragma once

#ifndef VARIANT
#define VARIANT plain  // the reference's own code reads none
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

/// The nearest float of so many bits of significand after the first.
__device__ inline float rounded(float x, int bits) {
  const unsigned dropped = 23u - (unsigned)bits;
  return __uint_as_float((__float_as_uint(x) + (1u << (dropped - 1))) & ~((1u << dropped) - 1u));
}
__device__ inline float to_tf32(float x) {
  return rounded(x, 10);
}
/// Without a half's limits of the exponent.
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
