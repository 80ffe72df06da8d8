// SPDX-License-Identifier: Apache-2.0
// <cuda_fp16.h> and <cuda_bf16.h> for the host's compiler: storage of 16 bits, arithmetic in float,
// each result rounded to nearest even.
#pragma once

namespace tuner {

/// Floating-point numbers of 16 bits with this number of significand bits.
template <int kSignificandBits>
struct Small {
  unsigned short bits;

  Small() = default;
  Small(float value) : bits(rounded(value)) {}
  Small(double value) : bits(rounded(static_cast<float>(value))) {}
  Small(int value) : Small(static_cast<float>(value)) {}
  Small(unsigned value) : Small(static_cast<float>(value)) {}
  Small(long value) : Small(static_cast<float>(value)) {}
  Small(unsigned long value) : Small(static_cast<float>(value)) {}
  Small(long long value) : Small(static_cast<float>(value)) {}
  Small(unsigned long long value) : Small(static_cast<float>(value)) {}
  Small(short value) : Small(static_cast<float>(value)) {}
  Small(unsigned short value) : Small(static_cast<float>(value)) {}

  static Small of_bits(unsigned short bits) {
    Small result;
    result.bits = bits;
    return result;
  }

  operator float() const {
    constexpr int shift = 23 - kSignificandBits;
    constexpr unsigned exponents = (1u << (15 - kSignificandBits)) - 1;  // all ones
    constexpr unsigned bias_gap = 127 - (exponents >> 1);
    const unsigned sign = static_cast<unsigned>(bits & 0x8000u) << 16;
    const unsigned exponent = (bits >> kSignificandBits) & exponents;
    const unsigned significand = bits & ((1u << kSignificandBits) - 1);
    if (exponent == exponents) return as_float(sign | 0x7f800000u | significand << shift);
    if (bias_gap == 0 || exponent != 0) {
      return as_float(sign | (exponent + bias_gap) << 23 | significand << shift);
    }
    // A subnormal number: a multiple of the smallest one.
    const float smallest = as_float((bias_gap + 1 - kSignificandBits) << 23);
    const float magnitude = static_cast<float>(significand) * smallest;
    return sign != 0 ? -magnitude : magnitude;
  }

  Small& operator+=(Small other) { return *this = *this + other; }
  Small& operator-=(Small other) { return *this = *this - other; }
  Small& operator*=(Small other) { return *this = *this * other; }
  Small& operator/=(Small other) { return *this = *this / other; }
  Small operator-() const { return of_bits(static_cast<unsigned short>(bits ^ 0x8000u)); }
  friend Small operator+(Small a, Small b) { return Small(a.value() + b.value()); }
  friend Small operator-(Small a, Small b) { return Small(a.value() - b.value()); }
  friend Small operator*(Small a, Small b) { return Small(a.value() * b.value()); }
  friend Small operator/(Small a, Small b) { return Small(a.value() / b.value()); }
  friend bool operator==(Small a, Small b) { return a.value() == b.value(); }
  friend bool operator!=(Small a, Small b) { return a.value() != b.value(); }
  friend bool operator<(Small a, Small b) { return a.value() < b.value(); }
  friend bool operator>(Small a, Small b) { return a.value() > b.value(); }
  friend bool operator<=(Small a, Small b) { return a.value() <= b.value(); }
  friend bool operator>=(Small a, Small b) { return a.value() >= b.value(); }

  float value() const { return static_cast<float>(*this); }

 private:
  static float as_float(unsigned word) { return __builtin_bit_cast(float, word); }

  static unsigned short rounded(float value) {
    constexpr int shift = 23 - kSignificandBits;
    constexpr unsigned exponents = (1u << (15 - kSignificandBits)) - 1;
    constexpr unsigned infinity = exponents << kSignificandBits;
    constexpr int bias_gap = 127 - static_cast<int>(exponents >> 1);
    const unsigned word = __builtin_bit_cast(unsigned, value);
    const unsigned sign = word >> 16 & 0x8000u;
    const unsigned magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return 0x7fff;  // NaN
    const int exponent = static_cast<int>(magnitude >> 23) - bias_gap;
    if (exponent >= static_cast<int>(exponents))
      return static_cast<unsigned short>(sign | infinity);
    unsigned significand = magnitude & 0x7fffffu;
    int dropped = shift;
    unsigned result = 0;
    if (exponent <= 0 && bias_gap != 0) {  // becomes subnormal
      significand |= 0x800000u;
      dropped += 1 - exponent;
      if (dropped > 31) return static_cast<unsigned short>(sign);
      result = significand >> dropped;
    } else {
      result = (magnitude - (static_cast<unsigned>(bias_gap) << 23)) >> shift;
    }
    const unsigned rest = significand & ((1u << dropped) - 1);
    const unsigned half = 1u << (dropped - 1);
    if (rest > half || (rest == half && (result & 1u) != 0)) ++result;  // may become infinity
    return static_cast<unsigned short>(sign | result);
  }
};

/// Two of them, as a kernel loads them.
template <class T>
struct __align__(4) SmallPair {
  T x, y;
  // Friends, so that the atomics' templates find them.
  friend SmallPair operator+(SmallPair a, SmallPair b) {
    return {a.x + b.x, a.y + b.y};
  }
  friend SmallPair operator-(SmallPair a, SmallPair b) {
    return {a.x - b.x, a.y - b.y};
  }
  friend SmallPair operator*(SmallPair a, SmallPair b) {
    return {a.x * b.x, a.y * b.y};
  }
  friend SmallPair operator/(SmallPair a, SmallPair b) {
    return {a.x / b.x, a.y / b.y};
  }
  friend SmallPair operator-(SmallPair a) {
    return {-a.x, -a.y};
  }
  friend SmallPair& operator+=(SmallPair& a, SmallPair b) {
    return a = a + b;
  }
  friend SmallPair& operator-=(SmallPair& a, SmallPair b) {
    return a = a - b;
  }
  friend SmallPair& operator*=(SmallPair& a, SmallPair b) {
    return a = a * b;
  }
  friend SmallPair& operator/=(SmallPair& a, SmallPair b) {
    return a = a / b;
  }
  friend bool operator==(SmallPair a, SmallPair b) {
    return a.x == b.x && a.y == b.y;
  }
  /// Both differ: __hbne2.
  friend bool operator!=(SmallPair a, SmallPair b) {
    return a.x != b.x && a.y != b.y;
  }
};

template <class T>
struct PairOf;
template <int kBits>
struct PairOf<Small<kBits>> {
  using type = SmallPair<Small<kBits>>;
};

}  // namespace tuner

// A function a line.
// clang-format off

typedef tuner::Small<10> __half;
typedef tuner::SmallPair<__half> __half2;
typedef __half half;
typedef __half2 half2;
typedef tuner::Small<7> __nv_bfloat16;
typedef tuner::SmallPair<__nv_bfloat16> __nv_bfloat162;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline __half __float2half(float x) { return __half(x); }
inline __half __float2half_rn(float x) { return __half(x); }
inline __half __double2half(double x) { return __half(x); }
inline float __half2float(__half x) { return x.value(); }
inline __half __int2half_rn(int x) { return __half(x); }
inline __half __uint2half_rn(unsigned x) { return __half(x); }
inline int __half2int_rn(__half x) { return __float2int_rn(x.value()); }
inline int __half2int_rz(__half x) { return __float2int_rz(x.value()); }
inline __half __ushort_as_half(unsigned short x) { return __half::of_bits(x); }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {v.x.value(), v.y.value()}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }

inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return x.value(); }
inline __nv_bfloat16 __int2bfloat16_rn(int x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16::of_bits(x); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x.value(), v.y.value()}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

#define TUNER_SMALL template <int B> inline
#define TUNER_PAIR tuner::SmallPair<tuner::Small<B>>
TUNER_SMALL TUNER_PAIR __half2half2(tuner::Small<B> x) { return {x, x}; }
TUNER_SMALL TUNER_PAIR __halves2half2(tuner::Small<B> x, tuner::Small<B> y) { return {x, y}; }
TUNER_SMALL tuner::Small<B> __low2half(TUNER_PAIR v) { return v.x; }
TUNER_SMALL tuner::Small<B> __high2half(TUNER_PAIR v) { return v.y; }
TUNER_SMALL tuner::Small<B> __low2bfloat16(TUNER_PAIR v) { return v.x; }
TUNER_SMALL tuner::Small<B> __high2bfloat16(TUNER_PAIR v) { return v.y; }
TUNER_SMALL float __low2float(TUNER_PAIR v) { return v.x.value(); }
TUNER_SMALL float __high2float(TUNER_PAIR v) { return v.y.value(); }
TUNER_SMALL tuner::Small<B> __hadd(tuner::Small<B> a, tuner::Small<B> b) { return a + b; }
TUNER_SMALL tuner::Small<B> __hsub(tuner::Small<B> a, tuner::Small<B> b) { return a - b; }
TUNER_SMALL tuner::Small<B> __hmul(tuner::Small<B> a, tuner::Small<B> b) { return a * b; }
TUNER_SMALL tuner::Small<B> __hdiv(tuner::Small<B> a, tuner::Small<B> b) { return a / b; }
TUNER_SMALL tuner::Small<B> __hfma(tuner::Small<B> a, tuner::Small<B> b, tuner::Small<B> c) { return tuner::Small<B>(fmaf(a.value(), b.value(), c.value())); }
TUNER_SMALL tuner::Small<B> __hneg(tuner::Small<B> a) { return -a; }
TUNER_SMALL tuner::Small<B> __habs(tuner::Small<B> a) { return tuner::Small<B>::of_bits(a.bits & 0x7fffu); }
TUNER_SMALL tuner::Small<B> __hmax(tuner::Small<B> a, tuner::Small<B> b) { return tuner::Small<B>(fmaxf(a.value(), b.value())); }
TUNER_SMALL tuner::Small<B> __hmin(tuner::Small<B> a, tuner::Small<B> b) { return tuner::Small<B>(fminf(a.value(), b.value())); }
TUNER_SMALL bool __heq(tuner::Small<B> a, tuner::Small<B> b) { return a == b; }
TUNER_SMALL bool __hne(tuner::Small<B> a, tuner::Small<B> b) { return a != b; }
TUNER_SMALL bool __hlt(tuner::Small<B> a, tuner::Small<B> b) { return a < b; }
TUNER_SMALL bool __hle(tuner::Small<B> a, tuner::Small<B> b) { return a <= b; }
TUNER_SMALL bool __hgt(tuner::Small<B> a, tuner::Small<B> b) { return a > b; }
TUNER_SMALL bool __hge(tuner::Small<B> a, tuner::Small<B> b) { return a >= b; }
TUNER_SMALL bool __hisnan(tuner::Small<B> a) { return isnan(a.value()); }
#define TUNER_BOTH(name, one) TUNER_SMALL TUNER_PAIR name(TUNER_PAIR a, TUNER_PAIR b) { return {one(a.x, b.x), one(a.y, b.y)}; }
TUNER_BOTH(__hadd2, __hadd) TUNER_BOTH(__hsub2, __hsub) TUNER_BOTH(__hmul2, __hmul)
TUNER_BOTH(__h2div, __hdiv) TUNER_BOTH(__hmax2, __hmax) TUNER_BOTH(__hmin2, __hmin)
#undef TUNER_BOTH
TUNER_SMALL TUNER_PAIR __hfma2(TUNER_PAIR a, TUNER_PAIR b, TUNER_PAIR c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
TUNER_SMALL TUNER_PAIR __hneg2(TUNER_PAIR a) { return {-a.x, -a.y}; }
TUNER_SMALL TUNER_PAIR __habs2(TUNER_PAIR a) { return {__habs(a.x), __habs(a.y)}; }
#define TUNER_OF_FLOAT(name, function)                                                                          \
  TUNER_SMALL tuner::Small<B> h##name(tuner::Small<B> a) { return tuner::Small<B>(function(a.value())); }        \
  TUNER_SMALL TUNER_PAIR h2##name(TUNER_PAIR a) { return {h##name(a.x), h##name(a.y)}; }
TUNER_OF_FLOAT(exp, expf) TUNER_OF_FLOAT(exp2, exp2f) TUNER_OF_FLOAT(log, logf) TUNER_OF_FLOAT(log2, log2f)
TUNER_OF_FLOAT(log10, log10f) TUNER_OF_FLOAT(sqrt, sqrtf) TUNER_OF_FLOAT(rsqrt, rsqrtf)
TUNER_OF_FLOAT(sin, sinf) TUNER_OF_FLOAT(cos, cosf) TUNER_OF_FLOAT(floor, floorf) TUNER_OF_FLOAT(ceil, ceilf)
TUNER_OF_FLOAT(trunc, truncf) TUNER_OF_FLOAT(rint, rintf) TUNER_OF_FLOAT(rcp, 1.0f /)
#undef TUNER_OF_FLOAT
#undef TUNER_SMALL
#undef TUNER_PAIR
