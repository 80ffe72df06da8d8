// SPDX-License-Identifier: Apache-2.0
// <cuda_fp16.h> and <cuda_bf16.h> for the host's compiler: storage of 16 bits, arithmetic in float,
// each result rounded to nearest even.
#pragma once

namespace tuner {

/// Floating-point numbers of 16 bits with this number of significand bits.
template <int kSignificandBits>
struct Small {
  unsigned short bits;

  enum class Rounding { nearest, zero, down, up };

  /// Rounded once.
  static Small of(double value, Rounding rounding) {
    const Small near(static_cast<float>(value));  // the nearest number or the one beyond `value`
    const double exact = near.value();
    if (!(exact < value || exact > value)) return near;
    const bool is_above = exact > value;
    const Small beyond = near.next(!is_above);
    if (rounding == Rounding::up) return is_above ? near : beyond;
    if (rounding == Rounding::down) return is_above ? beyond : near;
    if (rounding == Rounding::zero) return is_above == (value < 0) ? near : beyond;
    // Infinity is as far from the largest number as the number before that.
    const double last = beyond.value();
    const double at = exact - exact == 0 ? exact : 2 * last - beyond.next(!is_above).value();
    const double to_near = is_above ? at - value : value - at;
    const double to_beyond = is_above ? value - last : last - value;
    if (to_near == to_beyond) return (near.bits & 1u) == 0 ? near : beyond;
    return to_near < to_beyond ? near : beyond;
  }
  /// Bits that double does not have are kept in its last one, which tells a tie from others.
  static Small of(long long value, Rounding rounding) {
    const auto magnitude = static_cast<unsigned long long>(value);
    const Small of_magnitude =
        of(value < 0 ? 0 - magnitude : magnitude, value >= 0                   ? rounding
                                                  : rounding == Rounding::up   ? Rounding::down
                                                  : rounding == Rounding::down ? Rounding::up
                                                                               : rounding);
    return value < 0 ? -of_magnitude : of_magnitude;
  }
  static Small of(unsigned long long value, Rounding rounding) {
    constexpr unsigned long long kLost = (1u << 11) - 1;
    if (value >> 53 != 0) value = (value & ~kLost) | ((value & kLost) != 0 ? kLost + 1 : 0);
    return of(static_cast<double>(value), rounding);
  }
  /// The next number above or below.
  Small next(bool is_above) const {
    const bool is_negative = (bits & 0x8000u) != 0;
    if ((bits & 0x7fffu) == 0) return of_bits(is_above ? 0x0001 : 0x8001);
    return of_bits(static_cast<unsigned short>(is_negative == is_above ? bits - 1 : bits + 1));
  }

  Small() = default;
  Small(float value) : bits(rounded(value)) {}
  Small(double value) : Small(of(value, Rounding::nearest)) {}
  Small(int value) : Small(of(static_cast<long long>(value), Rounding::nearest)) {}
  Small(unsigned value) : Small(of(static_cast<unsigned long long>(value), Rounding::nearest)) {}
  Small(long value) : Small(of(static_cast<long long>(value), Rounding::nearest)) {}
  Small(unsigned long value)
      : Small(of(static_cast<unsigned long long>(value), Rounding::nearest)) {}
  Small(long long value) : Small(of(static_cast<long long>(value), Rounding::nearest)) {}
  Small(unsigned long long value)
      : Small(of(static_cast<unsigned long long>(value), Rounding::nearest)) {}
  Small(short value) : Small(of(static_cast<long long>(value), Rounding::nearest)) {}
  Small(unsigned short value)
      : Small(of(static_cast<unsigned long long>(value), Rounding::nearest)) {}

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

inline long long widest(int value) {
  return value;
}
inline long long widest(long long value) {
  return value;
}
inline unsigned long long widest(unsigned value) {
  return value;
}
inline unsigned long long widest(unsigned long long value) {
  return value;
}

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
inline __half __ushort_as_half(unsigned short x) { return __half::of_bits(x); }
inline __half __short_as_half(short x) { return __half::of_bits(static_cast<unsigned short>(x)); }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }
inline short __half_as_short(__half x) { return static_cast<short>(x.bits); }
inline __half2 __float2half2_rn(float x) { return {__half(x), __half(x)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__half(x), __half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
inline float2 __half22float2(__half2 v) { return {v.x.value(), v.y.value()}; }
inline __half2 make_half2(__half x, __half y) { return {x, y}; }

inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __nv_bfloat16(x); }
inline __nv_bfloat16 __double2bfloat16(double x) { return __nv_bfloat16(x); }
inline float __bfloat162float(__nv_bfloat16 x) { return x.value(); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short x) { return __nv_bfloat16::of_bits(x); }
inline __nv_bfloat16 __short_as_bfloat16(short x) { return __nv_bfloat16::of_bits(static_cast<unsigned short>(x)); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
inline short __bfloat16_as_short(__nv_bfloat16 x) { return static_cast<short>(x.bits); }
inline __nv_bfloat162 __float2bfloat162_rn(float x) { return {__nv_bfloat16(x), __nv_bfloat16(x)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__nv_bfloat16(x), __nv_bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {v.x.value(), v.y.value()}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 x) { return {x, x}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }

// Whole numbers; results out of range saturate.
#define TUNER_OF_WHOLE(type, name, whole, wide)                                                                  \
  inline type __##whole##2##name##_rn(wide x) { return type::of(tuner::widest(x), type::Rounding::nearest); } \
  inline type __##whole##2##name##_rz(wide x) { return type::of(tuner::widest(x), type::Rounding::zero); }    \
  inline type __##whole##2##name##_rd(wide x) { return type::of(tuner::widest(x), type::Rounding::down); }    \
  inline type __##whole##2##name##_ru(wide x) { return type::of(tuner::widest(x), type::Rounding::up); }
#define TUNER_TO_SHORT(type, name, mode)                                                                                    \
  inline short __##name##2short_##mode(type x) { return static_cast<short>(min(max(__float2int_##mode(x.value()), -32768), 32767)); } \
  inline unsigned short __##name##2ushort_##mode(type x) { return static_cast<unsigned short>(min(max(__float2int_##mode(x.value()), 0), 65535)); }
#define TUNER_TO_WIDER(type, name, mode)                                                                         \
  inline int __##name##2int_##mode(type x) { return __float2int_##mode(x.value()); }                             \
  inline unsigned __##name##2uint_##mode(type x) { return __float2uint_##mode(x.value()); }                      \
  inline long long __##name##2ll_##mode(type x) { return __float2ll_##mode(x.value()); }                         \
  inline unsigned long long __##name##2ull_##mode(type x) { return __float2ull_##mode(x.value()); }
#define TUNER_CONVERSIONS(type, name)                                                                            \
  TUNER_OF_WHOLE(type, name, short, short) TUNER_OF_WHOLE(type, name, ushort, unsigned short)                    \
  TUNER_OF_WHOLE(type, name, int, int) TUNER_OF_WHOLE(type, name, uint, unsigned)                                \
  TUNER_OF_WHOLE(type, name, ll, long long) TUNER_OF_WHOLE(type, name, ull, unsigned long long)                  \
  TUNER_TO_SHORT(type, name, rn) TUNER_TO_SHORT(type, name, rz) TUNER_TO_SHORT(type, name, rd) TUNER_TO_SHORT(type, name, ru) \
  TUNER_TO_WIDER(type, name, rn) TUNER_TO_WIDER(type, name, rz) TUNER_TO_WIDER(type, name, rd) TUNER_TO_WIDER(type, name, ru) \
  inline signed char __##name##2char_rz(type x) { return static_cast<signed char>(min(max(__float2int_rz(x.value()), -128), 127)); } \
  inline unsigned char __##name##2uchar_rz(type x) { return static_cast<unsigned char>(min(max(__float2int_rz(x.value()), 0), 255)); } \
  inline type __float2##name##_rz(float x) { return type::of(x, type::Rounding::zero); }                         \
  inline type __float2##name##_rd(float x) { return type::of(x, type::Rounding::down); }                         \
  inline type __float2##name##_ru(float x) { return type::of(x, type::Rounding::up); }
TUNER_CONVERSIONS(__half, half)
TUNER_CONVERSIONS(__nv_bfloat16, bfloat16)
#undef TUNER_CONVERSIONS
#undef TUNER_TO_WIDER
#undef TUNER_TO_SHORT
#undef TUNER_OF_WHOLE

#define TUNER_SMALL template <int B> inline
#define TUNER_PAIR tuner::SmallPair<tuner::Small<B>>
TUNER_SMALL TUNER_PAIR __half2half2(tuner::Small<B> x) { return {x, x}; }
TUNER_SMALL TUNER_PAIR __halves2half2(tuner::Small<B> x, tuner::Small<B> y) { return {x, y}; }
TUNER_SMALL tuner::Small<B> __low2half(TUNER_PAIR v) { return v.x; }
TUNER_SMALL tuner::Small<B> __high2half(TUNER_PAIR v) { return v.y; }
TUNER_SMALL tuner::Small<B> __low2bfloat16(TUNER_PAIR v) { return v.x; }
TUNER_SMALL tuner::Small<B> __high2bfloat16(TUNER_PAIR v) { return v.y; }
#define TUNER_HALVES(name)                                                                                       \
  TUNER_SMALL TUNER_PAIR __low2##name##2(TUNER_PAIR v) { return {v.x, v.x}; }                                     \
  TUNER_SMALL TUNER_PAIR __high2##name##2(TUNER_PAIR v) { return {v.y, v.y}; }                                    \
  TUNER_SMALL TUNER_PAIR __lows2##name##2(TUNER_PAIR a, TUNER_PAIR b) { return {a.x, b.x}; }                      \
  TUNER_SMALL TUNER_PAIR __highs2##name##2(TUNER_PAIR a, TUNER_PAIR b) { return {a.y, b.y}; }
TUNER_HALVES(half) TUNER_HALVES(bfloat16)
#undef TUNER_HALVES
TUNER_SMALL TUNER_PAIR __lowhigh2highlow(TUNER_PAIR v) { return {v.y, v.x}; }
TUNER_SMALL float __low2float(TUNER_PAIR v) { return v.x.value(); }
TUNER_SMALL float __high2float(TUNER_PAIR v) { return v.y.value(); }
TUNER_SMALL tuner::Small<B> __hadd(tuner::Small<B> a, tuner::Small<B> b) { return a + b; }
TUNER_SMALL tuner::Small<B> __hsub(tuner::Small<B> a, tuner::Small<B> b) { return a - b; }
TUNER_SMALL tuner::Small<B> __hmul(tuner::Small<B> a, tuner::Small<B> b) { return a * b; }
TUNER_SMALL tuner::Small<B> __hdiv(tuner::Small<B> a, tuner::Small<B> b) { return a / b; }
TUNER_SMALL tuner::Small<B> __hfma(tuner::Small<B> a, tuner::Small<B> b, tuner::Small<B> c) { return tuner::Small<B>(fma(double(a.value()), double(b.value()), double(c.value()))); }
TUNER_SMALL tuner::Small<B> __hneg(tuner::Small<B> a) { return -a; }
TUNER_SMALL tuner::Small<B> __habs(tuner::Small<B> a) { return tuner::Small<B>::of_bits(a.bits & 0x7fffu); }
// +0 is above -0.
TUNER_SMALL tuner::Small<B> __hmax(tuner::Small<B> a, tuner::Small<B> b) { return a == b ? tuner::Small<B>::of_bits(a.bits & b.bits) : tuner::Small<B>(fmaxf(a.value(), b.value())); }
TUNER_SMALL tuner::Small<B> __hmin(tuner::Small<B> a, tuner::Small<B> b) { return a == b ? tuner::Small<B>::of_bits(a.bits | b.bits) : tuner::Small<B>(fminf(a.value(), b.value())); }
TUNER_SMALL bool __hisnan(tuner::Small<B> a) { return isnan(a.value()); }
TUNER_SMALL int __hisinf(tuner::Small<B> a) { return !isinf(a.value()) ? 0 : a.value() < 0 ? -1 : 1; }
TUNER_SMALL TUNER_PAIR __hisnan2(TUNER_PAIR v) { return {tuner::Small<B>(__hisnan(v.x) ? 1 : 0), tuner::Small<B>(__hisnan(v.y) ? 1 : 0)}; }
// Of numbers, and with `u` of NaN too; of pairs as numbers, as masks, and whether both are.
#define TUNER_COMPARISON(name, is, otherwise)                                                                    \
  TUNER_SMALL bool __h##name(tuner::Small<B> a, tuner::Small<B> b) { return is; }                                 \
  TUNER_SMALL bool __h##name##u(tuner::Small<B> a, tuner::Small<B> b) { return !(otherwise); }                    \
  TUNER_OF_PAIRS(name) TUNER_OF_PAIRS(name##u)
#define TUNER_OF_PAIRS(name)                                                                                     \
  TUNER_SMALL TUNER_PAIR __h##name##2(TUNER_PAIR a, TUNER_PAIR b) { return {tuner::Small<B>(__h##name(a.x, b.x) ? 1 : 0), tuner::Small<B>(__h##name(a.y, b.y) ? 1 : 0)}; } \
  TUNER_SMALL unsigned __h##name##2_mask(TUNER_PAIR a, TUNER_PAIR b) { return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u); } \
  TUNER_SMALL bool __hb##name##2(TUNER_PAIR a, TUNER_PAIR b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
TUNER_COMPARISON(eq, a == b, a < b || a > b)
TUNER_COMPARISON(ne, a < b || a > b, a == b)
TUNER_COMPARISON(lt, a < b, a >= b)
TUNER_COMPARISON(le, a <= b, a > b)
TUNER_COMPARISON(gt, a > b, a <= b)
TUNER_COMPARISON(ge, a >= b, a < b)
#undef TUNER_OF_PAIRS
#undef TUNER_COMPARISON
TUNER_SMALL tuner::Small<B> __hmax_nan(tuner::Small<B> a, tuner::Small<B> b) { return __hisnan(a) || __hisnan(b) ? tuner::Small<B>::of_bits(0x7fff) : __hmax(a, b); }
TUNER_SMALL tuner::Small<B> __hmin_nan(tuner::Small<B> a, tuner::Small<B> b) { return __hisnan(a) || __hisnan(b) ? tuner::Small<B>::of_bits(0x7fff) : __hmin(a, b); }
TUNER_SMALL tuner::Small<B> __hadd_rn(tuner::Small<B> a, tuner::Small<B> b) { return a + b; }
TUNER_SMALL tuner::Small<B> __hsub_rn(tuner::Small<B> a, tuner::Small<B> b) { return a - b; }
TUNER_SMALL tuner::Small<B> __hmul_rn(tuner::Small<B> a, tuner::Small<B> b) { return a * b; }
namespace tuner {
/// In [0, 1]; 0 for NaN.
TUNER_SMALL Small<B> saturated(Small<B> a) { return !(a.value() > 0) ? Small<B>(0) : a.value() > 1 ? Small<B>(1) : a; }
}  // namespace tuner
TUNER_SMALL tuner::Small<B> __hadd_sat(tuner::Small<B> a, tuner::Small<B> b) { return tuner::saturated(a + b); }
TUNER_SMALL tuner::Small<B> __hsub_sat(tuner::Small<B> a, tuner::Small<B> b) { return tuner::saturated(a - b); }
TUNER_SMALL tuner::Small<B> __hmul_sat(tuner::Small<B> a, tuner::Small<B> b) { return tuner::saturated(a * b); }
TUNER_SMALL tuner::Small<B> __hfma_sat(tuner::Small<B> a, tuner::Small<B> b, tuner::Small<B> c) { return tuner::saturated(__hfma(a, b, c)); }
TUNER_SMALL tuner::Small<B> __hfma_relu(tuner::Small<B> a, tuner::Small<B> b, tuner::Small<B> c) { return __hmax_nan(__hfma(a, b, c), tuner::Small<B>(0)); }
#define TUNER_BOTH(name, one) TUNER_SMALL TUNER_PAIR name(TUNER_PAIR a, TUNER_PAIR b) { return {one(a.x, b.x), one(a.y, b.y)}; }
TUNER_BOTH(__hadd2, __hadd) TUNER_BOTH(__hsub2, __hsub) TUNER_BOTH(__hmul2, __hmul)
TUNER_BOTH(__h2div, __hdiv) TUNER_BOTH(__hmax2, __hmax) TUNER_BOTH(__hmin2, __hmin)
TUNER_BOTH(__hadd2_rn, __hadd) TUNER_BOTH(__hsub2_rn, __hsub) TUNER_BOTH(__hmul2_rn, __hmul)
TUNER_BOTH(__hadd2_sat, __hadd_sat) TUNER_BOTH(__hsub2_sat, __hsub_sat) TUNER_BOTH(__hmul2_sat, __hmul_sat)
TUNER_BOTH(__hmax2_nan, __hmax_nan) TUNER_BOTH(__hmin2_nan, __hmin_nan)
#undef TUNER_BOTH
TUNER_SMALL TUNER_PAIR __hfma2(TUNER_PAIR a, TUNER_PAIR b, TUNER_PAIR c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
TUNER_SMALL TUNER_PAIR __hfma2_sat(TUNER_PAIR a, TUNER_PAIR b, TUNER_PAIR c) { return {__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)}; }
TUNER_SMALL TUNER_PAIR __hfma2_relu(TUNER_PAIR a, TUNER_PAIR b, TUNER_PAIR c) { return {__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)}; }
/// a * b + c of complex numbers.
TUNER_SMALL TUNER_PAIR __hcmadd(TUNER_PAIR a, TUNER_PAIR b, TUNER_PAIR c) { return {__hfma(-a.y, b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))}; }
TUNER_SMALL TUNER_PAIR __hneg2(TUNER_PAIR a) { return {-a.x, -a.y}; }
TUNER_SMALL TUNER_PAIR __habs2(TUNER_PAIR a) { return {__habs(a.x), __habs(a.y)}; }
#define TUNER_OF_FLOAT(name, function)                                                                          \
  TUNER_SMALL tuner::Small<B> h##name(tuner::Small<B> a) { return tuner::Small<B>(function(a.value())); }        \
  TUNER_SMALL TUNER_PAIR h2##name(TUNER_PAIR a) { return {h##name(a.x), h##name(a.y)}; }
TUNER_OF_FLOAT(exp, expf) TUNER_OF_FLOAT(exp2, exp2f) TUNER_OF_FLOAT(log, logf) TUNER_OF_FLOAT(log2, log2f)
TUNER_OF_FLOAT(log10, log10f) TUNER_OF_FLOAT(sqrt, sqrtf) TUNER_OF_FLOAT(rsqrt, rsqrtf)
TUNER_OF_FLOAT(sin, sinf) TUNER_OF_FLOAT(cos, cosf) TUNER_OF_FLOAT(floor, floorf) TUNER_OF_FLOAT(ceil, ceilf)
TUNER_OF_FLOAT(trunc, truncf) TUNER_OF_FLOAT(rint, rintf) TUNER_OF_FLOAT(rcp, 1.0f /)
TUNER_OF_FLOAT(exp10, exp10f) TUNER_OF_FLOAT(tanh, tanhf) TUNER_OF_FLOAT(tanh_approx, tanhf)
#undef TUNER_OF_FLOAT
#undef TUNER_SMALL
#undef TUNER_PAIR
