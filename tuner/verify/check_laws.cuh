// SPDX-License-Identifier: Apache-2.0
// Kernels that draw inputs by other laws than the ordinary one. Each changes numbers that were
// drawn by a fill; family/law.hpp names the laws in the order of their numbers.
#pragma once

#include "check_inputs.cuh"
#include "check_numbers.cuh"

enum LawNumber : int {
  kZeros,
  kMagnitudes,
  kOffsets,
  kOutliers,
  kEqual,
  kNegative,
  kSmall,
  kWide,
  kShared,
  kRuns,
};

/// Which elements a law may give: any from −most to most, or those of an interval.
enum Domain : int { kAnyNumber, kPositiveNumber, kInterval };

/// The number of the run that an element lies in: of equal length, as rows have, or of lengths from
/// 1 to 128.
__device__ inline Bits64 equal_run(long long index, Bits64 seed) {
  return (Bits64)index >> (3 + 2 * (int)(random_bits(seed, 0) % 4));
}
__device__ inline Bits64 unequal_run(long long index, Bits64 seed) {
  const Bits64 region = (Bits64)index / 512;
  return region << 32 | ((Bits64)index % 512) / (1 + random_bits(seed, region) % 128);
}

__device__ inline bool is_outlier(long long index, long long count, Bits64 seed) {
  return random_bits(seed, (Bits64)index) % 61 == 0 ||
         (Bits64)index == random_bits(seed, ~(Bits64)0) % (Bits64)count;
}

/// Whether an element lies in the third of a buffer that is empty: whole rows of matrices do.
__device__ inline bool is_in_empty_third(long long index, long long count, Bits64 seed) {
  const long long third = count / 3;
  const long long first = (long long)(random_bits(seed, 2) % (Bits64)(count - third + 1));
  return index >= first && index - first < third;
}

/// 10^(strength·share); its smallest values are subnormal.
__device__ inline double power_of_ten(double strength, double share) {
  return exp2(3.321928094887362 * strength * share);
}

/// An element of a law: of x, which the fill gave.
__device__ inline double element_of_law(int law, double x, long long i, long long count,
                                        Bits64 seed, double strength) {
  const Bits64 bits = random_bits(seed, (Bits64)i), run = random_bits(seed, equal_run(i, seed));
  const double share = unit_number(bits), run_share = unit_number(run);
  switch (law) {
    case kZeros:
      if (strength > 1 && is_in_empty_third(i, count, seed)) return 0;
      return bits % 4 == 0 ? (bits & 64 ? -0.0 : 0.0) : x;
    case kMagnitudes:
      return x * power_of_ten(strength, 2 * run_share - 1);
    case kOffsets:
      return x + (run & 1 ? 1 : -1) * power_of_ten(strength, run_share);
    case kOutliers:
      return is_outlier(i, count, seed) ? x * power_of_ten(strength, 1) : x;
    case kEqual:
      return (double)normal_number(random_bits(seed, 1)) + 2;
    case kNegative:
      return -(x < 0 ? -x : x) - power_of_ten(strength, 0.34 + 0.66 * run_share);
    case kSmall:  // at the first level some down to subnormal ones
      if (strength > 4 && bits % 32 < 2)
        return x * (bits % 32 == 0 ? 0x1p-130 : power_of_ten(-strength, 1 + 3.6 * share));
      return x * power_of_ten(-strength, 1 + share / 8);
    case kWide:
      return (x < 0 ? -1 : 1) * power_of_ten(strength, 2 * share - 1);
    case kRuns:
      return (double)normal_number(random_bits(seed, unequal_run(i, seed)));
  }
  return x;
}

/// A number of the same kind within an interval: near an end where x is large, else inside.
__device__ inline double within(double x, double low, double high) {
  const double middle = low / 2 + high / 2, half = high / 2 - low / 2;
  const double share = x / (1 + (x < 0 ? -x : x));
  return middle + half * share * 0.999999;
}

template <class T>
__global__ void apply_law(T* data, long long count, int law, int domain, long long seed,
                          double strength, double low, double high) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    double x = element_of_law(law, (double)data[i], i, count, (Bits64)seed, strength);
    if (domain == kPositiveNumber) {
      x = x < 0 ? -x : x;
      if (!(x > low)) x = low;
    }
    if (domain == kInterval && (law != kZeros || (double)data[i] != x)) {
      const double magnitude = x < 0 ? -x : x;
      const bool small = law == kZeros || law == kSmall;
      if (small && low <= 0 && magnitude < high)
        x = law == kZeros ? 0 : magnitude;
      else if (law != kZeros)
        x = within(x, low, high);
      else
        x = (double)data[i];
    } else {
      const double least = domain == kAnyNumber ? -high : low;
      x = x > high ? high : x < least ? least : x;
    }
    data[i] = (T)x;
  }
}

/// Whole numbers in [low, high] as 64 bits: terms of sums, or indices.
template <class T>
__global__ void apply_integer_law(T* data, long long count, int law, int indices, long long seed,
                                  long long low, long long high) {
  const Bits64 span = (Bits64)high - (Bits64)low, base = (Bits64)low;
  const auto any = [&](Bits64 bits) { return span == ~(Bits64)0 ? bits : bits % (span + 1); };
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i),
                 more = random_bits(~(Bits64)seed, (Bits64)i);
    const Bits64 value = (Bits64)(long long)data[i];
    const double share = unit_number(bits);
    const Bits64 ends[] = {
        base, base + span, base + (span > 0),      base + span - (span > 0),    0,
        1,    ~(Bits64)0,  (Bits64)1 << more % 64, ((Bits64)1 << more % 64) - 1};
    Bits64 made = value;
    switch (law) {
      case kZeros:
        if (indices)
          made = bits & 1 ? base : value;
        else if (bits % 4 == 0)
          made = 0;
        break;
      case kMagnitudes: {
        const double skewed = share * share * share * share;
        if (indices)
          made = base + (Bits64)(skewed * skewed * (double)span);
        else
          made = (bits & 1 ? (Bits64)0 - (more >> (1 + (bits >> 1) % 63))
                           : more >> (1 + (bits >> 1) % 63));
        break;
      }
      case kOffsets:
        made = bits & 1 ? base + any((bits >> 1) % 8) : base + span - any((bits >> 1) % 8);
        break;
      case kOutliers:
        if (is_outlier(i, count, (Bits64)seed))
          made = ends[more % 9];
        else if (indices)
          made = base + any(random_bits((Bits64)seed, 2));
        break;
      case kEqual:
        made = base + any(random_bits((Bits64)seed, 1));
        break;
      case kNegative:
        if (indices)
          made = base + span - any((Bits64)i);
        else
          made = (long long)value > 0 ? (Bits64)0 - value : value;
        break;
      case kSmall:
        if (indices)
          made = base + (i == 0 ? 0 : (Bits64)(i - 1) > span ? span : (Bits64)(i - 1));
        else
          made = bits % 3 - 1;
        break;
      case kWide:
        if (indices)
          made = bits & 1 ? base : base + span;
        else
          made = bits & 1 ? ends[more % 9] : base + any(more);
        break;
      case kRuns:
        made = base + any(random_bits((Bits64)seed, unequal_run(i, (Bits64)seed)));
        break;
    }
    if (made - base > span) made = value;
    data[i] = (T)(long long)made;
  }
}

/// Where the rows of a CSR matrix begin, as fill_offsets: with rows of other lengths.
template <class T>
__global__ void apply_offsets_law(T* data, long long count, int law, long long seed,
                                  long long entries) {
  const long long rows = count - 1;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double t = rows > 0 ? (double)i / (double)rows : 0;
    const long long place =
        (long long)(random_bits((Bits64)seed, 3) % (Bits64)(rows > 0 ? rows : 1));
    double share = t;
    switch (law) {
      case kZeros:  // the first and the last rows are empty
        share = t < 0.25 ? 0 : t > 0.75 ? 1 : 2 * (t - 0.25);
        break;
      case kMagnitudes:
        share = t * t * t * t;
        break;
      case kOffsets:  // all in the last row
        share = i < rows ? 0 : 1;
        break;
      case kOutliers:  // all in the first row
        share = i == 0 ? 0 : 1;
        break;
      case kNegative:
        share = 1 - (1 - t) * (1 - t) * (1 - t) * (1 - t);
        break;
      case kSmall:  // the first row is empty, the others are equal
        share = i <= 1 || rows < 2 ? 0 : (double)(i - 1) / (double)(rows - 1);
        break;
      case kWide:  // all in some row
        share = i <= place ? 0 : 1;
        break;
      case kRuns:
        share = (double)(i / 8 * 8) / (double)(rows > 0 ? rows : 1);
        break;
    }
    data[i] = (T)(i == 0 ? 0 : i >= rows ? entries : (long long)(share * (double)entries));
  }
}

/// Ascending numbers from −end to end that stay so.
template <class T>
__global__ void apply_sorted_law(T* data, long long count, int law, double end, double most,
                                 double strength) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    double x = (double)data[i] / end;  // in [−1, 1]
    switch (law) {
      case kZeros:
        x = x > 0.5 ? x - 0.5 : x < -0.5 ? x + 0.5 : 0;
        break;
      case kMagnitudes:
        x = x * x * x * x * x;
        break;
      case kOffsets:
        x = kFloating<T> ? x + power_of_ten(strength, 1) : (x + 1) / 2;
        break;
      case kEqual:
        x = 1.0 / 3;
        break;
      case kSmall:
        x = kFloating<T> ? x * power_of_ten(-strength, 1) : floor(x * 2) / end;
        break;
      case kWide:
        x = x * (most / end);
        break;
      case kRuns:
        x = floor(x * 8) / 8;
        break;
    }
    x *= end;
    data[i] = (T)(x > most ? most : x < -most ? -most : x);
  }
}

/// Gives elements those of `others`: in half of the pieces of 64 nearly all, from the same places,
/// in the other pieces half, from any place, with `flips` half of these with one bit changed.
template <class T>
__global__ void borrow(T* data, long long count, const T* others, long long other_count, int flips,
                       long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i);
    const bool in_place = random_bits(~(Bits64)seed, (Bits64)i >> 6) & 1;
    if (in_place ? bits % 64 == 0 : bits & 1) continue;
    T taken = others[(in_place ? (Bits64)i : bits >> 8) % (Bits64)other_count];
    if constexpr (!kFloating<T>) {
      if (flips && !in_place && bits & 2)
        taken = (T)((Bits64)taken ^ (Bits64)1 << (bits >> 2) % (8 * sizeof(T) - 1));
    }
    data[i] = taken;
  }
}
