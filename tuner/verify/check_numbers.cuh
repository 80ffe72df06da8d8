// SPDX-License-Identifier: Apache-2.0
// Numbers of every element type on a device, random ones, and the elements of a thread.
#pragma once

typedef unsigned int Bits32;
typedef unsigned long long Bits64;

/// A floating-point number that C++ has no type for: a sign, the exponent, the fraction and unused
/// bits. Computed with as a float, which holds it exactly; rounded to nearest even from a double.
template <class Word, int kExponentBits, int kFractionBits, int kUnusedBits, bool kHasInfinity>
struct ShortFloat {
  typedef Word Bits;
  static constexpr Bits64 kHidden = (Bits64)1 << kFractionBits;
  static constexpr Bits64 kAll = (kHidden << kExponentBits) - 1;
  /// The bits of the largest number, without the sign and the unused ones.
  static constexpr Bits64 kLargest = kHasInfinity ? kAll - kHidden : kAll - 1;
  static constexpr int kUnused = kUnusedBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  Word bits;

  ShortFloat() = default;
  template <class Number>
  __device__ explicit ShortFloat(Number value) : bits(rounded((double)value)) {}

  __device__ operator float() const {
    const Bits32 word = (Bits32)bits;
    const bool negative = word >> (8 * sizeof(Word) - 1) & 1;
    const Bits32 magnitude = (Bits32)(word >> kUnusedBits & kAll);
    float value;
    if (magnitude > kLargest) {
      value =
          __uint_as_float(kHasInfinity && magnitude == kLargest + 1 ? 0x7F800000u : 0x7FFFFFFFu);
    } else if (kBias == 127 || magnitude >= kHidden) {
      value = __uint_as_float((magnitude << (23 - kFractionBits)) + ((Bits32)(127 - kBias) << 23));
    } else {
      value = (float)magnitude * __uint_as_float((Bits32)(128 - kBias - kFractionBits) << 23);
    }
    return negative ? -value : value;
  }

  __device__ static Word rounded(double value) {
    const Bits64 word = (Bits64)__double_as_longlong(value);
    const Bits64 magnitude = word & 0x7FFFFFFFFFFFFFFFull;
    const Word sign = (Word)((word >> 63) << (8 * sizeof(Word) - 1));
    if (magnitude > 0x7FF0000000000000ull) return (Word)(kAll << kUnusedBits);
    const int exponent = (int)(magnitude >> 52) - 1023;
    const int below = 1 - kBias - exponent;  // above 0: less than the least normal number
    if (below > kFractionBits + 1) return sign;
    const int dropped = 52 - kFractionBits + (below > 0 ? below : 0);
    const Bits64 significand = (magnitude & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
    const Bits64 rest = significand & (((Bits64)1 << dropped) - 1),
                 half = (Bits64)1 << (dropped - 1);
    Bits64 result = significand >> dropped;
    if (rest > half || (rest == half && (result & 1))) ++result;
    if (below < 0) result += (Bits64)-below << kFractionBits;
    if (result > kLargest) result = kLargest + 1;
    return (Word)(sign | (Word)(result << kUnusedBits));
  }
};

/// Numbers that a poison kind makes: 64 bits, of elements as many as fit; of them some fixed, the
/// others at random.
struct Pattern {
  Bits64 fixed, free;
};

#include "element_types.hpp"

/// A counter-based generator: the finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
__device__ inline Bits64 random_bits(Bits64 seed, Bits64 counter) {
  Bits64 z = seed + (counter + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

__device__ inline long long first_index() {
  return (long long)blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ inline long long index_stride() {
  return (long long)gridDim.x * blockDim.x;
}

template <class T>
constexpr bool kFloating = (T)0.5f != (T)0;
template <class T>
constexpr bool kUnsigned = (T)-1 > (T)0;

/// Below it are the subnormal numbers of floats, which the device may take for 0.
template <class T>
constexpr double kLeastNormal = 0x1p-126;
template <>
constexpr double kLeastNormal<double> = 0x1p-1022;

/// The type of an error of a number, and whether results of the type are rounded from a finer one.
template <class T>
struct ErrorOf {
  typedef T Type;
};
template <class Word, int kExponent, int kFraction, int kUnused, bool kInfinity>
constexpr bool kFloating<ShortFloat<Word, kExponent, kFraction, kUnused, kInfinity>> = true;
template <class Word, int kExponent, int kFraction, int kUnused, bool kInfinity>
constexpr bool kUnsigned<ShortFloat<Word, kExponent, kFraction, kUnused, kInfinity>> = false;
template <class Word, int kExponent, int kFraction, int kUnused, bool kInfinity>
struct ErrorOf<ShortFloat<Word, kExponent, kFraction, kUnused, kInfinity>> {
  typedef float Type;
};
template <class T>
using Error = typename ErrorOf<T>::Type;
