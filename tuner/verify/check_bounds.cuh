// SPDX-License-Identifier: Apache-2.0
// Kernels that make error bounds, of what a reference gives for other inputs.
#pragma once

#include "check_numbers.cuh"

template <class T>
__global__ void absolute(T* result, const T* data, long long count) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    result[i] = data[i] < (T)0 ? (T)(-data[i]) : data[i];
  }
}

/// The bits of a floating-point number, and those of its magnitude in units in the last place.
template <class T>
struct FloatBits {
  typedef typename T::Bits Type;
  static constexpr int kUnused = T::kUnused;
  static constexpr Bits64 kLargest = T::kLargest;
};
template <>
struct FloatBits<float> {
  typedef Bits32 Type;
  static constexpr int kUnused = 0;
  static constexpr Bits64 kLargest = 0x7F7FFFFFu;
};
template <>
struct FloatBits<double> {
  typedef Bits64 Type;
  static constexpr int kUnused = 0;
  static constexpr Bits64 kLargest = 0x7FEFFFFFFFFFFFFFull;
};

/// The numbers of `data`, each 1 to 4 units in the last place larger or smaller, a subnormal one
/// half of the times 0, as a kernel may take it; 0 stays 0.
template <class T>
__global__ void perturb(T* result, const T* data, long long count, long long seed) {
  typedef FloatBits<T> Float;
  typedef typename Float::Type Bits;
  constexpr Bits kSign = (Bits)((Bits64)1 << (8 * sizeof(Bits) - 1));
  for (long long i = first_index(); i < count; i += index_stride()) {
    Bits bits = *(const Bits*)&data[i];
    const Bits64 magnitude = (Bits64)(Bits)(bits & (Bits)~kSign) >> Float::kUnused;
    const Bits64 random = random_bits((Bits64)seed, (Bits64)i);
    const Bits step = (Bits)((random % 4 + 1) << Float::kUnused);
    if (magnitude > 4 && magnitude <= Float::kLargest - 4) {
      bits = (Bits)(random & 4 ? bits + step : bits - step);
    }
    const double value = (double)*(const T*)&bits;
    if (value < kLeastNormal<T> && value > -kLeastNormal<T> && random & 8) bits &= kSign;
    *(Bits*)&result[i] = bits;
  }
}

/// The distance from |x| to the next number of its type; 1 for integers.
template <class T>
__device__ inline double last_place(T x) {
  if constexpr (kFloating<T>) {
    typedef typename FloatBits<T>::Type Bits;
    constexpr Bits kSign = (Bits)((Bits64)1 << (8 * sizeof(Bits) - 1));
    Bits bits = (Bits)(*(const Bits*)&x & (Bits)~kSign);
    const double magnitude = (double)*(const T*)&bits;
    bits = (Bits)(bits + ((Bits)1 << FloatBits<T>::kUnused));
    return (double)*(const T*)&bits - magnitude;
  } else {
    return 1;
  }
}

/// spread[i] = the larger of it and |run[i] − reference[i]|, where that is a number. Of a type to
/// which results are rounded from a finer one a unit in the last place is no difference.
template <class T>
__global__ void widen(Error<T>* spread, const T* run, const T* reference, long long count,
                      int rounded) {
  typedef Error<T> E;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const E a = (E)run[i], b = (E)reference[i];
    E distance = a > b ? (E)(a - b) : (E)(b - a);
    if (rounded) distance = (E)((double)distance - last_place(reference[i]));
    if (distance > spread[i] && distance - distance == (E)0) spread[i] = distance;
    if constexpr (kFloating<T>) {
      // Inputs that are hardly other ones have no finite result: any is as good.
      if (!(a - a == (E)0) && b - b == (E)0) spread[i] = (E)__uint_as_float(0x7F800000u);
    }
  }
}

/// sums[0] += the exponents of the spreads above 0, sums[1] += their number.
template <class T>
__global__ void add_exponents(const T* spread, long long count, Bits64* sums) {
  long long exponents = 0;
  Bits64 terms = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    if (!(spread[i] > (T)0) || !(spread[i] - spread[i] == (T)0)) continue;
    exponents += (long long)floor(log2((double)spread[i]));
    ++terms;
  }
  if (terms == 0) return;
  atomicAdd(&sums[0], (Bits64)exponents);
  atomicAdd(&sums[1], terms);
}

/// What is the spread of a reference becomes the error allowed:
/// max(factor·spread, min(factor·floor, share·|reference|)) + relative·|reference| + tiny. Of a
/// result that is 0 the floor counts whole: it has no magnitude.
template <class T>
__global__ void allow_spread(Error<T>* spread, const T* reference, long long count, double factor,
                             double floor, double share, double relative, double tiny) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double s = (double)spread[i];
    const double r = reference[i] < (T)0 ? -(double)reference[i] : (double)reference[i];
    const double own = r - r == 0 ? r : 0;
    double least = factor * floor;
    if (own != 0 && least > share * own) least = share * own;
    const double allowed = factor * s;
    spread[i] = (Error<T>)((allowed > least ? allowed : least) + relative * own + tiny);
  }
}

/// Numbers as errors of the type: the largest one instead of infinity.
template <class T>
__global__ void as_errors(Error<T>* errors, const T* data, long long count, double most) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double x = (double)data[i];
    errors[i] = (Error<T>)(x < most ? x : most);
  }
}

/// allowed[i] = max(relative·|r|, absolute, ulp·(unit in the last place of r)), rounded down to a
/// number of the type.
template <class T>
__global__ void allow_tolerance(Error<T>* allowed, const T* reference, long long count,
                                double relative, double absolute, double ulp, double most) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double r = reference[i] < (T)0 ? -(double)reference[i] : (double)reference[i];
    double margin = absolute;
    if (r - r == 0) {
      if (relative * r > margin) margin = relative * r;
      if (ulp * last_place(reference[i]) > margin) margin = ulp * last_place(reference[i]);
    }
    allowed[i] = (Error<T>)(margin < most ? margin : most);
  }
}
