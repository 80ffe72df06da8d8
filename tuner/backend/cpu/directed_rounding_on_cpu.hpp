// SPDX-License-Identifier: Apache-2.0
// CUDA's arithmetic that rounds toward zero (_rz), up (_ru) and down (_rd); a part of
// cuda_on_cpu.hpp. A result is the nearest one or its neighbour: the sign of the error tells. (The
// error of a product or quotient below the smallest normal number may be lost.)
#pragma once

namespace tuner::directed {
inline float next_to(float x, float toward) {
  return nextafterf(x, toward);
}
inline double next_to(double x, double toward) {
  return nextafter(x, toward);
}

/// What is to be rounded: the nearest number, and a number of the sign of the exact one minus it.
template <class T>
struct Unrounded {
  T nearest, error;

  /// `overflows`: the nearest is infinite and the exact one is not.
  static Unrounded of(T nearest, T error, bool overflows) {
    return {nearest, overflows ? -nearest : error};
  }
  T up() const { return error > 0 ? next_to(nearest, T(__builtin_inf())) : nearest; }
  T down() const { return error < 0 ? next_to(nearest, -T(__builtin_inf())) : nearest; }
  T to_zero() const { return nearest > 0 ? down() : up(); }
};

template <class T>
inline bool overflow(T nearest, T x, T y) {
  return isinf(nearest) && isfinite(x) && isfinite(y);
}
/// The rounding error of a sum, exactly (Knuth, The Art of Computer Programming 2, 4.2.2).
template <class T>
inline T sum_error(T x, T y, T sum) {
  const T of_y = sum - x;
  return (x - (sum - of_y)) + (y - of_y);
}
template <class T>
inline Unrounded<T> sum(T x, T y) {
  const T nearest = x + y;
  return Unrounded<T>::of(nearest, sum_error(x, y, nearest), overflow(nearest, x, y));
}
template <class T>
inline Unrounded<T> product(T x, T y) {
  const T nearest = x * y;
  return Unrounded<T>::of(nearest, fma(x, y, -nearest), overflow(nearest, x, y));
}
template <class T>
inline Unrounded<T> quotient(T x, T y) {
  const T nearest = x / y;
  if (y == 0 || isinf(y)) return {nearest, 0};
  const T rest = fma(-nearest, y, x);
  return Unrounded<T>::of(nearest, y < 0 ? -rest : rest, overflow(nearest, x, y));
}
template <class T>
inline Unrounded<T> square_root(T x) {
  const T nearest = sqrt(x);
  return {nearest, isinf(nearest) ? T(0) : fma(-nearest, nearest, x)};
}
/// x * y and its error are added to z, each sum with its own error.
template <class T>
inline Unrounded<T> product_and_sum(T x, T y, T z) {
  const T nearest = fma(x, y, z), product = x * y, of_product = fma(x, y, -product);
  const T sum = product + z, of_sum = sum_error(product, z, sum);
  const T apart = (sum - nearest) + of_sum, of_apart = sum_error(sum - nearest, of_sum, apart);
  return Unrounded<T>::of(nearest, apart + (of_apart + of_product),
                          overflow(nearest, x, y) && isfinite(z));
}
/// A number in a narrower type. Wide: has them both exactly.
template <class To, class Wide, class From>
inline Unrounded<To> narrowed(From x) {
  const To nearest = static_cast<To>(x);
  if (isinf(nearest)) return Unrounded<To>::of(nearest, 0, x - x == 0);
  const Wide error = static_cast<Wide>(x) - static_cast<Wide>(nearest);
  return {nearest, static_cast<To>(error > 0 ? 1 : error < 0 ? -1 : 0)};
}
}  // namespace tuner::directed

#define TUNER_DIRECTED(type, name, parameters, ...) \
  inline type name##_rz parameters {                \
    return tuner::directed::__VA_ARGS__.to_zero();  \
  }                                                 \
  inline type name##_ru parameters {                \
    return tuner::directed::__VA_ARGS__.up();       \
  }                                                 \
  inline type name##_rd parameters {                \
    return tuner::directed::__VA_ARGS__.down();     \
  }
#define TUNER_ARITHMETIC(type, letter, fused)                             \
  TUNER_DIRECTED(type, __##letter##add, (type x, type y), sum(x, y))      \
  TUNER_DIRECTED(type, __##letter##sub, (type x, type y), sum(x, -y))     \
  TUNER_DIRECTED(type, __##letter##mul, (type x, type y), product(x, y))  \
  TUNER_DIRECTED(type, __##letter##div, (type x, type y), quotient(x, y)) \
  TUNER_DIRECTED(type, __##letter##rcp, (type x), quotient(type(1), x))   \
  TUNER_DIRECTED(type, __##letter##sqrt, (type x), square_root(x))        \
  TUNER_DIRECTED(type, fused, (type x, type y, type z), product_and_sum(x, y, z))
TUNER_ARITHMETIC(float, f, __fmaf)
TUNER_ARITHMETIC(double, d, __fma)
TUNER_DIRECTED(float, __double2float, (double x), narrowed<float, double>(x))
TUNER_DIRECTED(float, __int2float, (int x), narrowed<float, double>(x))
TUNER_DIRECTED(float, __uint2float, (unsigned x), narrowed<float, double>(x))
TUNER_DIRECTED(float, __ll2float, (long long x), narrowed<float, __int128>(x))
TUNER_DIRECTED(float, __ull2float, (unsigned long long x), narrowed<float, __int128>(x))
TUNER_DIRECTED(double, __ll2double, (long long x), narrowed<double, __int128>(x))
TUNER_DIRECTED(double, __ull2double, (unsigned long long x), narrowed<double, __int128>(x))
#undef TUNER_ARITHMETIC
#undef TUNER_DIRECTED
