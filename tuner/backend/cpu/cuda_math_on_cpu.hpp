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
TUNER_MATH_1(log1p) TUNER_MATH_1(logb) TUNER_MATH_1(sin) TUNER_MATH_1(cos) TUNER_MATH_1(tan)
TUNER_MATH_1(asin) TUNER_MATH_1(acos) TUNER_MATH_1(atan) TUNER_MATH_1(sinh) TUNER_MATH_1(cosh)
TUNER_MATH_1(tanh) TUNER_MATH_1(asinh) TUNER_MATH_1(acosh) TUNER_MATH_1(atanh) TUNER_MATH_1(erf)
TUNER_MATH_1(erfc) TUNER_MATH_1(tgamma) TUNER_MATH_1(lgamma) TUNER_MATH_2(pow) TUNER_MATH_2(atan2)
TUNER_MATH_2(fmod) TUNER_MATH_2(fmax) TUNER_MATH_2(fmin) TUNER_MATH_2(hypot) TUNER_MATH_2(copysign)
TUNER_MATH_2(fdim) TUNER_MATH_2(remainder) TUNER_MATH_2(nextafter)
#undef TUNER_MATH_1
#undef TUNER_MATH_2

// Whole numbers are taken as double, and so is a float beside a double; a float beside a whole
// number stays a float.
namespace tuner {
template <class T> struct Whole {};
#define TUNER_WHOLE(type) template <> struct Whole<type> { using Double = double; using Float = float; };
TUNER_WHOLE(bool) TUNER_WHOLE(char) TUNER_WHOLE(signed char) TUNER_WHOLE(unsigned char)
TUNER_WHOLE(short) TUNER_WHOLE(unsigned short) TUNER_WHOLE(int) TUNER_WHOLE(unsigned)
TUNER_WHOLE(long) TUNER_WHOLE(unsigned long) TUNER_WHOLE(long long) TUNER_WHOLE(unsigned long long)
#undef TUNER_WHOLE
}
#define TUNER_MIXED_1(name) template <class T> inline typename tuner::Whole<T>::Double name(T x) { return name(static_cast<double>(x)); }
TUNER_MIXED_1(sqrt) TUNER_MIXED_1(cbrt) TUNER_MIXED_1(floor) TUNER_MIXED_1(ceil) TUNER_MIXED_1(exp)
TUNER_MIXED_1(log) TUNER_MIXED_1(log2) TUNER_MIXED_1(log10) TUNER_MIXED_1(sin) TUNER_MIXED_1(cos)
TUNER_MIXED_1(tan) TUNER_MIXED_1(atan) TUNER_MIXED_1(tanh) TUNER_MIXED_1(fabs) TUNER_MIXED_1(round)
#undef TUNER_MIXED_1
#define TUNER_MIXED_2(name) \
  inline double name(float x, double y) { return name(static_cast<double>(x), y); } \
  inline double name(double x, float y) { return name(x, static_cast<double>(y)); } \
  template <class T> inline typename tuner::Whole<T>::Float name(float x, T y) { return name(x, static_cast<float>(y)); } \
  template <class T> inline typename tuner::Whole<T>::Float name(T x, float y) { return name(static_cast<float>(x), y); } \
  template <class T> inline typename tuner::Whole<T>::Double name(double x, T y) { return name(x, static_cast<double>(y)); } \
  template <class T> inline typename tuner::Whole<T>::Double name(T x, double y) { return name(static_cast<double>(x), y); } \
  template <class T, class U, class = typename tuner::Whole<U>::Double> \
  inline typename tuner::Whole<T>::Double name(T x, U y) { return name(static_cast<double>(x), static_cast<double>(y)); }
TUNER_MIXED_2(pow) TUNER_MIXED_2(fmax) TUNER_MIXED_2(fmin) TUNER_MIXED_2(fmod) TUNER_MIXED_2(atan2)
TUNER_MIXED_2(hypot)
#undef TUNER_MIXED_2

extern "C" void sincos(double, double*, double*) noexcept;
extern "C" void sincosf(float, float*, float*) noexcept;
extern "C" double ldexp(double, int) noexcept;
extern "C" float ldexpf(float, int) noexcept;
extern "C" double frexp(double, int*) noexcept;
extern "C" float frexpf(float, int*) noexcept;
extern "C" double modf(double, double*) noexcept;
extern "C" float modff(float, float*) noexcept;
extern "C" long lrint(double) noexcept;
extern "C" long lrintf(float) noexcept;
extern "C" long lround(double) noexcept;
extern "C" long lroundf(float) noexcept;
extern "C" long long llrint(double) noexcept;
extern "C" long long llrintf(float) noexcept;
extern "C" long long llround(double) noexcept;
extern "C" long long llroundf(float) noexcept;
extern "C" double scalbln(double, long) noexcept;
extern "C" float scalblnf(float, long) noexcept;
extern "C" double nan(const char*) noexcept;
extern "C" float nanf(const char*) noexcept;
extern "C" double remquo(double, double, int*) noexcept;
extern "C" float remquof(float, float, int*) noexcept;
extern "C" int ilogb(double) noexcept;
extern "C" int ilogbf(float) noexcept;
inline float ldexp(float x, int n) { return ldexpf(x, n); }
inline float scalbnf(float x, int n) { return ldexpf(x, n); }
inline double scalbn(double x, int n) { return ldexp(x, n); }
inline void sincospif(float x, float* s, float* c) { sincosf(x * 3.14159265358979323846f, s, c); }
inline float sinpif(float x) { return static_cast<float>(sin(x * M_PI)); }
inline float cospif(float x) { return static_cast<float>(cos(x * M_PI)); }
inline double sinpi(double x) { return sin(x * M_PI); }
inline double cospi(double x) { return cos(x * M_PI); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
inline float norm3df(float x, float y, float z) { return sqrtf(x * x + y * y + z * z); }
inline float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
inline void sincospi(double x, double* s, double* c) { sincos(x * M_PI, s, c); }
inline double rcbrt(double x) { return 1.0 / cbrt(x); }
inline double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
inline double norm3d(double x, double y, double z) { return sqrt(x * x + y * y + z * z); }
inline double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
inline double norm4d(double x, double y, double z, double w) { return sqrt(x * x + y * y + z * z + w * w); }
inline float norm4df(float x, float y, float z, float w) { return sqrtf(x * x + y * y + z * z + w * w); }
inline float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
inline double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }
inline double norm(int count, const double* x) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += x[i] * x[i];
  return sqrt(sum);
}
inline float normf(int count, const float* x) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return static_cast<float>(sqrt(sum));
}
inline double rnorm(int count, const double* x) { return 1.0 / norm(count, x); }
inline float rnormf(int count, const float* x) { return 1.0f / normf(count, x); }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752440f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
inline double exp10(double x) { return pow(10.0, x); }
inline float fdividef(float x, float y) { return x / y; }
template <class T> inline bool signbit(T x) { return __builtin_signbit(x); }
inline float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float exp10f(float x) { return powf(10.0f, x); }
inline int abs(int x) { return x < 0 ? -x : x; }
inline long long llabs(long long x) { return x < 0 ? -x : x; }
inline long abs(long x) { return x < 0 ? -x : x; }
inline long long abs(long long x) { return x < 0 ? -x : x; }
inline long labs(long x) { return x < 0 ? -x : x; }
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
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __exp10f(float x) { return exp10f(x); }
inline float __tanf(float x) { return tanf(x); }
inline float __tanhf(float x) { return tanhf(x); }
inline void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
inline float __frsqrt_rn(float x) { return 1.0f / sqrtf(x); }
inline double __dadd_rn(double x, double y) { return x + y; }
inline double __dsub_rn(double x, double y) { return x - y; }
inline double __dmul_rn(double x, double y) { return x * y; }
inline double __ddiv_rn(double x, double y) { return x / y; }
inline double __drcp_rn(double x) { return 1.0 / x; }
inline double __dsqrt_rn(double x) { return sqrt(x); }
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
namespace tuner {
/// As a GPU converts: what the type cannot hold becomes the nearest that it can; NaN becomes 0, in
/// 64 bits the highest bit (PTX, cvt).
template <class To, class From> inline To whole(From x, To least, To most) {
  if (x != x) return sizeof(To) == 8 ? static_cast<To>(1ull << 63) : To(0);
  return x <= static_cast<From>(least) ? least : x >= static_cast<From>(most) ? most : static_cast<To>(x);
}
}
#define TUNER_TO_WHOLE(prefix, type, least, most, from)                                                      \
  inline type prefix##_rn(from x) { return tuner::whole<type>(rint(x), least, most); }                       \
  inline type prefix##_rz(from x) { return tuner::whole<type>(trunc(x), least, most); }                      \
  inline type prefix##_ru(from x) { return tuner::whole<type>(ceil(x), least, most); }                       \
  inline type prefix##_rd(from x) { return tuner::whole<type>(floor(x), least, most); }
TUNER_TO_WHOLE(__float2int, int, INT_MIN, INT_MAX, float)
TUNER_TO_WHOLE(__float2uint, unsigned, 0u, UINT_MAX, float)
TUNER_TO_WHOLE(__float2ll, long long, LLONG_MIN, LLONG_MAX, float)
TUNER_TO_WHOLE(__float2ull, unsigned long long, 0ull, ULLONG_MAX, float)
TUNER_TO_WHOLE(__double2int, int, INT_MIN, INT_MAX, double)
TUNER_TO_WHOLE(__double2uint, unsigned, 0u, UINT_MAX, double)
TUNER_TO_WHOLE(__double2ll, long long, LLONG_MIN, LLONG_MAX, double)
TUNER_TO_WHOLE(__double2ull, unsigned long long, 0ull, ULLONG_MAX, double)
#undef TUNER_TO_WHOLE
inline float __int2float_rn(int x) { return static_cast<float>(x); }
inline float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
inline float __ll2float_rn(long long x) { return static_cast<float>(x); }
inline float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
inline double __int2double_rn(int x) { return x; }
inline double __uint2double_rn(unsigned x) { return x; }
inline double __ll2double_rn(long long x) { return static_cast<double>(x); }
inline double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
inline float __double2float_rn(double x) { return static_cast<float>(x); }
inline double __hiloint2double(int high, int low) { return __longlong_as_double(static_cast<long long>(high) << 32 | static_cast<unsigned>(low)); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline unsigned __brev(unsigned x) {
  unsigned result = 0;
  for (int i = 0; i < 32; ++i) result = result << 1 | (x >> i & 1u);
  return result;
}
inline unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned chosen = selector >> (4 * i) & 0xfu;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (chosen & 7u))) & 0xffu;
    if ((chosen & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<long long>(x) * y >> 32); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}
inline int __hadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y) >> 1); }
inline unsigned __usad(unsigned x, unsigned y, unsigned z) { return (x < y ? y - x : x - y) + z; }
inline unsigned __sad(int x, int y, unsigned z) { return static_cast<unsigned>(x < y ? static_cast<long long>(y) - x : static_cast<long long>(x) - y) + z; }
inline int __dp4a(int x, int y, int sum) {
  for (int i = 0; i < 4; ++i) sum += static_cast<signed char>(x >> (8 * i)) * static_cast<signed char>(y >> (8 * i));
  return sum;
}
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __mul24(int x, int y) { return x * y; }
inline unsigned __umul24(unsigned x, unsigned y) { return x * y; }
inline unsigned __umulhi(unsigned x, unsigned y) {
  return static_cast<unsigned>(static_cast<unsigned long long>(x) * y >> 32);
}
inline long long __mul64hi(long long x, long long y) { return static_cast<long long>(static_cast<__int128>(x) * y >> 64); }
inline int __rhadd(int x, int y) { return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1); }
inline unsigned __uhadd(unsigned x, unsigned y) { return static_cast<unsigned>((static_cast<unsigned long long>(x) + y) >> 1); }
inline unsigned __urhadd(unsigned x, unsigned y) { return static_cast<unsigned>((static_cast<unsigned long long>(x) + y + 1) >> 1); }
inline unsigned umin(unsigned x, unsigned y) { return y < x ? y : x; }
inline unsigned umax(unsigned x, unsigned y) { return x < y ? y : x; }
inline long long llmin(long long x, long long y) { return y < x ? y : x; }
inline long long llmax(long long x, long long y) { return x < y ? y : x; }
inline unsigned long long ullmin(unsigned long long x, unsigned long long y) { return y < x ? y : x; }
inline unsigned long long ullmax(unsigned long long x, unsigned long long y) { return x < y ? y : x; }
#ifndef __clang__
#define __builtin_assume(condition) ((condition) ? static_cast<void>(0) : __builtin_unreachable())
#endif

// Instructions on the 4 bytes or 2 halves of a word, which is never carried over between them.
namespace tuner {
template <class Part, class Operation>
inline unsigned by_parts(unsigned x, unsigned y, Operation operation) {
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Part)) {
    const int part = operation(static_cast<int>(static_cast<Part>(x >> at)), static_cast<int>(static_cast<Part>(y >> at)));
    result |= (static_cast<unsigned>(part) & (sizeof(Part) == 1 ? 0xffu : 0xffffu)) << at;
  }
  return result;
}
}
#define TUNER_BY_PARTS(name, part, value) \
  inline unsigned name(unsigned x, unsigned y) { return tuner::by_parts<part>(x, y, [](int a, int b) { return value; }); }
TUNER_BY_PARTS(__vadd4, unsigned char, a + b) TUNER_BY_PARTS(__vadd2, unsigned short, a + b)
TUNER_BY_PARTS(__vsub4, unsigned char, a - b) TUNER_BY_PARTS(__vsub2, unsigned short, a - b)
TUNER_BY_PARTS(__vmaxs4, signed char, a < b ? b : a) TUNER_BY_PARTS(__vmaxs2, short, a < b ? b : a)
TUNER_BY_PARTS(__vmins4, signed char, b < a ? b : a) TUNER_BY_PARTS(__vmins2, short, b < a ? b : a)
TUNER_BY_PARTS(__vmaxu4, unsigned char, a < b ? b : a) TUNER_BY_PARTS(__vmaxu2, unsigned short, a < b ? b : a)
TUNER_BY_PARTS(__vminu4, unsigned char, b < a ? b : a) TUNER_BY_PARTS(__vminu2, unsigned short, b < a ? b : a)
TUNER_BY_PARTS(__vabsdiffu4, unsigned char, a < b ? b - a : a - b) TUNER_BY_PARTS(__vabsdiffu2, unsigned short, a < b ? b - a : a - b)
TUNER_BY_PARTS(__vcmpeq4, unsigned char, a == b ? -1 : 0) TUNER_BY_PARTS(__vcmpeq2, unsigned short, a == b ? -1 : 0)
TUNER_BY_PARTS(__vcmpgtu4, unsigned char, a > b ? -1 : 0) TUNER_BY_PARTS(__vcmpgtu2, unsigned short, a > b ? -1 : 0)
#undef TUNER_BY_PARTS

// The instructions for dynamic programming (DPX), of 32 bits and of two halves of 16 bits.
namespace tuner {
template <class T>
inline T larger(T a, T b) { return a < b ? b : a; }
template <class T>
inline T smaller(T a, T b) { return b < a ? b : a; }
template <class T>
inline T wrapped_sum(T a, T b) { return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b)); }
template <class Half, class Operation>
inline unsigned by_halves(unsigned x, unsigned y, unsigned z, Operation operation) {
  const auto half = [&](unsigned at) -> unsigned {
    const Half result = operation(static_cast<Half>(x >> at), static_cast<Half>(y >> at), static_cast<Half>(z >> at));
    return static_cast<unsigned>(static_cast<unsigned short>(result)) << at;
  };
  return half(0) | half(16);
}
/// Of two halves; whether the results are the halves of `x`.
template <class Half, class Operation>
inline unsigned chosen_halves(unsigned x, unsigned y, bool* upper, bool* lower, Operation operation) {
  const unsigned result = by_halves<Half>(x, y, 0, [&](Half a, Half b, Half) { return operation(a, b); });
  *upper = result >> 16 == x >> 16;
  *lower = (result & 0xffffu) == (x & 0xffffu);
  return result;
}
}
#define TUNER_OF_THREE(name, value) \
  inline int name##_s32(int a, int b, int c) { return value; } \
  inline int name##_s32_relu(int a, int b, int c) { return tuner::larger(value, 0); } \
  inline unsigned name##_u32(unsigned a, unsigned b, unsigned c) { return value; } \
  inline unsigned name##_s16x2(unsigned x, unsigned y, unsigned z) { return tuner::by_halves<short>(x, y, z, [](short a, short b, short c) { return value; }); } \
  inline unsigned name##_s16x2_relu(unsigned x, unsigned y, unsigned z) { return tuner::by_halves<short>(x, y, z, [](short a, short b, short c) { return tuner::larger<short>(value, 0); }); } \
  inline unsigned name##_u16x2(unsigned x, unsigned y, unsigned z) { return tuner::by_halves<unsigned short>(x, y, z, [](unsigned short a, unsigned short b, unsigned short c) { return value; }); }
TUNER_OF_THREE(__viaddmax, tuner::larger(tuner::wrapped_sum(a, b), c)) TUNER_OF_THREE(__viaddmin, tuner::smaller(tuner::wrapped_sum(a, b), c))
TUNER_OF_THREE(__vimax3, tuner::larger(tuner::larger(a, b), c)) TUNER_OF_THREE(__vimin3, tuner::smaller(tuner::smaller(a, b), c))
#undef TUNER_OF_THREE
#define TUNER_OF_TWO(name, which) \
  inline int __vi##name##_s32_relu(int a, int b) { return tuner::larger(tuner::which(a, b), 0); } \
  inline unsigned __vi##name##_s16x2_relu(unsigned x, unsigned y) { return tuner::by_halves<short>(x, y, 0, [](short a, short b, short) { return tuner::larger<short>(tuner::which(a, b), 0); }); } \
  inline int __vib##name##_s32(int a, int b, bool* is_first) { return *is_first = tuner::which(a, b) == a, tuner::which(a, b); } \
  inline unsigned __vib##name##_u32(unsigned a, unsigned b, bool* is_first) { return *is_first = tuner::which(a, b) == a, tuner::which(a, b); } \
  inline unsigned __vib##name##_s16x2(unsigned x, unsigned y, bool* upper, bool* lower) { return tuner::chosen_halves<short>(x, y, upper, lower, tuner::which<short>); } \
  inline unsigned __vib##name##_u16x2(unsigned x, unsigned y, bool* upper, bool* lower) { return tuner::chosen_halves<unsigned short>(x, y, upper, lower, tuner::which<unsigned short>); }
TUNER_OF_TWO(max, larger) TUNER_OF_TWO(min, smaller)
#undef TUNER_OF_TWO
