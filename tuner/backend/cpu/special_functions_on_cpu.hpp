// SPDX-License-Identifier: Apache-2.0
// Special functions of CUDA that libm has not, or under other names; a part of cuda_on_cpu.hpp.
// Computed in double precision, to some units in its last place.
#pragma once

#define TUNER_BESSEL(name, parameters, single, arguments) \
  extern "C" double name parameters noexcept;             \
  inline float name##f single {                           \
    return static_cast<float>(name arguments);            \
  }
TUNER_BESSEL(j0, (double x), (float x), (x))
TUNER_BESSEL(j1, (double x), (float x), (x))
TUNER_BESSEL(y0, (double x), (float x), (x))
TUNER_BESSEL(y1, (double x), (float x), (x))
TUNER_BESSEL(jn, (int n, double x), (int n, float x), (n, x))
TUNER_BESSEL(yn, (int n, double x), (int n, float x), (n, x))
#undef TUNER_BESSEL

namespace tuner::special {
/// The modified Bessel function of the first kind, its power series: all terms are positive
/// (Abramowitz and Stegun, 9.6.10).
inline double modified_bessel(int order, double x) {
  const double quarter = x * x / 4;
  double term = order == 0 ? 1 : x / 2, sum = term;
  for (int k = 1; fabs(term) > fabs(sum) * 1e-17 && isfinite(sum); ++k) {
    term *= quarter / (static_cast<double>(k) * (k + order));
    sum += term;
  }
  return sum;
}
/// Where erfc is y, for 0 < y <= 0.5: an estimate (Abramowitz and Stegun, 26.2.22), and steps of
/// Halley's method.
inline double inverse_of_erfc(double y) {
  const double t = sqrt(-2 * log(y / 2));
  double x = M_SQRT1_2 * (t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + 0.04481 * t)));
  for (int step = 0; step < 3; ++step) {
    const double error = erfc(x) - y;
    x += error / (M_2_SQRTPI * exp(-x * x) - x * error);
  }
  return x;
}
/// exp(x^2) erfc(x) for x >= 2: a continued fraction (Abramowitz and Stegun, 7.1.14).
inline double scaled_erfc(double x) {
  double below = x;
  for (int k = 120; k > 0; --k) below = x + k / 2.0 / below;
  return M_2_SQRTPI / 2 / below;
}
}  // namespace tuner::special
inline double cyl_bessel_i0(double x) {
  return tuner::special::modified_bessel(0, x);
}
inline double cyl_bessel_i1(double x) {
  return tuner::special::modified_bessel(1, x);
}
inline double erfinv(double x);
inline double erfcinv(double y) {
  if (!(y > 0 && y < 2)) return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : NAN;
  if (fabs(1 - y) < 0.5) return erfinv(1 - y);
  return y < 1 ? tuner::special::inverse_of_erfc(y) : -tuner::special::inverse_of_erfc(2 - y);
}
inline double erfinv(double x) {
  if (!(fabs(x) < 0.5)) return x < 0 ? -erfcinv(1 + x) : erfcinv(1 - x);
  double z = x / M_2_SQRTPI;
  for (int step = 0; step < 4; ++step) {
    const double error = erf(z) - x;
    z -= error / (M_2_SQRTPI * exp(-z * z) + z * error);
  }
  return z;
}
inline double erfcx(double x) {
  return x < 2 ? exp(x * x) * erfc(x) : tuner::special::scaled_erfc(x);
}
inline double normcdfinv(double x) {
  return -M_SQRT2 * erfcinv(2 * x);
}

#define TUNER_SINGLE(name)              \
  inline float name##f(float x) {       \
    return static_cast<float>(name(x)); \
  }
TUNER_SINGLE(cyl_bessel_i0)
TUNER_SINGLE(cyl_bessel_i1)
TUNER_SINGLE(erfcinv)
TUNER_SINGLE(erfinv)
TUNER_SINGLE(erfcx)
TUNER_SINGLE(normcdfinv)
#undef TUNER_SINGLE
