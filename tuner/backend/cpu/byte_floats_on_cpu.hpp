// SPDX-License-Identifier: Apache-2.0
// <cuda_fp8.h> for the host's compiler: storage of 8 bits; a conversion rounds to nearest even and
// saturates, as the toolkit's constructors do.
#pragma once

#include <cuda_fp16.h>

namespace tuner {

/// Floating-point numbers of 8 bits with this number of fraction bits.
template <int kFractionBits>
struct Fp8 {
  static constexpr bool kHasInfinity = kFractionBits == 2;  // e5m2; e4m3 has none
  static constexpr int kBias = kFractionBits == 2 ? 15 : 7;
  static constexpr unsigned kLargest = kHasInfinity ? 0x7bu : 0x7eu;
  static constexpr float kSmallest = kFractionBits == 2 ? 0x1p-16f : 0x1p-9f;

  unsigned char __x;

  Fp8() = default;
  template <class Number>
  explicit Fp8(Number value) : __x(saturated(static_cast<float>(value))) {}
  explicit operator float() const {
    const unsigned magnitude = __x & 0x7fu;
    const float sign = (__x & 0x80u) != 0 ? -1.0f : 1.0f;
    if (magnitude > kLargest) return kHasInfinity && magnitude == 0x7cu ? sign * HUGE_VALF : NAN;
    const unsigned field = magnitude >> kFractionBits;
    if (field == 0) return sign * static_cast<float>(magnitude) * kSmallest;
    // As in single precision, but for the bias and the number of fraction bits.
    const unsigned single = (magnitude << (23 - kFractionBits)) + ((127u - kBias) << 23);
    return sign * __builtin_bit_cast(float, single);
  }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
  explicit operator __half() const { return __half(static_cast<float>(*this)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(static_cast<float>(*this)); }

 private:
  static unsigned char saturated(float value) {
    const unsigned sign = __builtin_bit_cast(unsigned, value) >> 24 & 0x80u;
    if (value != value) return 0x7f;
    const float magnitude = value < 0.0f ? -value : value;
    const int least = 1 - kBias;
    if (magnitude >= 65536.0f) return static_cast<unsigned char>(sign | kLargest);
    int exponent = magnitude > 0.0f ? ilogbf(magnitude) : least;
    if (exponent < least) exponent = least;
    const auto units = static_cast<unsigned>(rintf(ldexpf(magnitude, kFractionBits - exponent)));
    const unsigned bits = units + (static_cast<unsigned>(exponent - least) << kFractionBits);
    return static_cast<unsigned char>(sign | (bits > kLargest ? kLargest : bits));
  }
};

/// Two or four of them in one word.
template <class Number, class Word>
struct Fp8s {
  static constexpr int kCount = sizeof(Word);
  Word __x;
  Fp8s() = default;
  explicit Fp8s(float2 values) : __x(static_cast<Word>(word(values.x, values.y))) {}
  explicit Fp8s(float4 values)
      : __x(static_cast<Word>(word(values.x, values.y) | word(values.z, values.w) << 16)) {}
  explicit Fp8s(__half2 values) : Fp8s(__half22float2(values)) {}
  explicit Fp8s(__nv_bfloat162 values) : Fp8s(__bfloat1622float2(values)) {}
  explicit operator float2() const { return {at(0), at(1)}; }
  explicit operator float4() const {
    static_assert(kCount == 4, "four numbers");
    return {at(0), at(1), at(2), at(3)};
  }
  explicit operator __half2() const { return __floats2half2_rn(at(0), at(1)); }
  explicit operator __nv_bfloat162() const { return __floats2bfloat162_rn(at(0), at(1)); }

 private:
  static unsigned word(float low, float high) {
    return static_cast<unsigned>(Number(low).__x) | static_cast<unsigned>(Number(high).__x) << 8;
  }
  float at(int i) const {
    Number number;
    number.__x = static_cast<unsigned char>(__x >> (8 * i));
    return static_cast<float>(number);
  }
};

}  // namespace tuner

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned __nv_fp8x4_storage_t;
typedef tuner::Fp8<3> __nv_fp8_e4m3;
typedef tuner::Fp8<2> __nv_fp8_e5m2;
typedef tuner::Fp8s<__nv_fp8_e4m3, __nv_fp8x2_storage_t> __nv_fp8x2_e4m3;
typedef tuner::Fp8s<__nv_fp8_e5m2, __nv_fp8x2_storage_t> __nv_fp8x2_e5m2;
typedef tuner::Fp8s<__nv_fp8_e4m3, __nv_fp8x4_storage_t> __nv_fp8x4_e4m3;
typedef tuner::Fp8s<__nv_fp8_e5m2, __nv_fp8x4_storage_t> __nv_fp8x4_e5m2;

// ---- conversions to finite numbers; those that overflow are not here

enum __nv_saturation_t { __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t,
                                                __nv_fp8_interpretation_t type) {
  return type == __NV_E4M3 ? __nv_fp8_e4m3(value).__x : __nv_fp8_e5m2(value).__x;
}
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 values, __nv_saturation_t,
                                                     __nv_fp8_interpretation_t type) {
  return type == __NV_E4M3 ? __nv_fp8x2_e4m3(values).__x : __nv_fp8x2_e5m2(values).__x;
}
