// SPDX-License-Identifier: Apache-2.0
// The mathematical and bit functions that CUDA C++ has without any header; a part of
// cuda_on_cpu.hpp. The declarations are those of libm, which g++ knows as built-ins.
#pragma once

// A function a line.
// clang-format off

#define TUNER_MATH_1(name)                  \
  extern "C" double name(double) noexcept;  \
  extern "C" float name##f(float) noexcept; \
  inline float name(float x) { return name##f(x); }
#define TUNER_MATH_2(name)                         \
  extern "C" double name(double, double) noexcept; \
  extern "C" float name##f(float, float) noexcept; \
  inline float name(float x, float y) { return name##f(x, y); }

TUNER_MATH_1(sqrt) TUNER_MATH_1(cbrt) TUNER_MATH_1(fabs) TUNER_MATH_1(floor) TUNER_MATH_1(ceil)
TUNER_MATH_1(trunc) TUNER_MATH_1(round) TUNER_MATH_1(rint) TUNER_MATH_1(nearbyint) TUNER_MATH_1(exp)
TUNER_MATH_1(exp2) TUNER_MATH_1(expm1) TUNER_MATH_1(log) TUNER_MATH_1(log2) TUNER_MATH_1(log10)
TUNER_MATH_1(log1p) TUNER_MATH_1(sin) TUNER_MATH_1(cos) TUNER_MATH_1(tan) TUNER_MATH_1(asin)
TUNER_MATH_1(acos) TUNER_MATH_1(atan) TUNER_MATH_1(sinh) TUNER_MATH_1(cosh) TUNER_MATH_1(tanh)
TUNER_MATH_1(erf) TUNER_MATH_1(erfc) TUNER_MATH_1(tgamma) TUNER_MATH_1(lgamma) TUNER_MATH_2(pow)
TUNER_MATH_2(atan2) TUNER_MATH_2(fmod) TUNER_MATH_2(fmax) TUNER_MATH_2(fmin) TUNER_MATH_2(hypot)
TUNER_MATH_2(copysign)
#undef TUNER_MATH_1
#undef TUNER_MATH_2

inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float exp10f(float x) { return powf(10.0f, x); }
inline int abs(int x) { return x < 0 ? -x : x; }
inline long long llabs(long long x) { return x < 0 ? -x : x; }
inline float abs(float x) { return fabsf(x); }
inline double abs(double x) { return fabs(x); }
template <class T> inline bool isnan(T x) { return __builtin_isnan(x); }
template <class T> inline bool isinf(T x) { return __builtin_isinf(x); }
template <class T> inline bool isfinite(T x) { return __builtin_isfinite(x); }

// As in CUDA the operands may differ in type, and a number wins over a NaN.
template <class T, class U>
inline constexpr auto min(T x, U y) -> decltype(x + y) { return y < x || x != x ? y : x; }
template <class T, class U>
inline constexpr auto max(T x, U y) -> decltype(x + y) { return x < y || x != x ? y : x; }

inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __saturatef(float x) { return fminf(fmaxf(x, 0.0f), 1.0f); }

inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
inline double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
inline int __float2int_rn(float x) { return static_cast<int>(rintf(x)); }
inline int __float2int_rz(float x) { return static_cast<int>(x); }
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __mul24(int x, int y) { return x * y; }
inline unsigned __umul24(unsigned x, unsigned y) { return x * y; }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
