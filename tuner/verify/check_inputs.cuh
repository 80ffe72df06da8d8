// SPDX-License-Identifier: Apache-2.0
// Kernels that make inputs.
#pragma once

#include "check_numbers.cuh"

/// A standard normal number (Box & Muller 1958).
__device__ inline float normal_number(Bits64 bits) {
  const float u = ((float)(Bits32)(bits >> 40) + 1.0f) * 0x1p-24f;  // (0, 1]
  const float v = (float)(Bits32)(bits & 0xFFFFFF) * 0x1p-24f;      // [0, 1)
  return sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
}

/// In [0, 1).
__device__ inline double unit_number(Bits64 bits) {
  return (double)(bits >> 11) * 0x1p-53;
}

template <class T>
__global__ void fill_normal(T* data, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    data[i] = (T)normal_number(random_bits((Bits64)seed, (Bits64)i));
  }
}

template <class T>
__global__ void fill_positive(T* data, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    data[i] = (T)(fabsf(normal_number(random_bits((Bits64)seed, (Bits64)i))) + 0.5f);
  }
}

template <class T>
__global__ void fill_uniform(T* data, long long count, long long seed, double low, double high) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    // 24 bits, so that a float between 0 and 1 is not rounded to 1.
    const double share = (double)(Bits32)(random_bits((Bits64)seed, (Bits64)i) >> 40) * 0x1p-24;
    data[i] = (T)(float)(low + (high - low) * share);
  }
}

/// Whole numbers in [low, high].
template <class T>
__global__ void fill_integers(T* data, long long count, long long seed, long long low,
                              long long high) {
  const Bits64 choices = (Bits64)high - (Bits64)low + 1;  // 0: all 2^64
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i);
    data[i] = (T)(long long)((Bits64)low + (choices == 0 ? bits : bits % choices));
  }
}

/// Whole numbers in [-range, range] but 0, which would hide an operand that is not used; of an
/// unsigned type in [1, range].
template <class T>
__global__ void fill_whole(T* data, long long count, long long seed, long long range) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i);
    const long long number = (long long)((bits >> 1) % (Bits64)range) + 1;
    data[i] = (T)(kUnsigned<T> || (bits & 1) ? number : -number);
  }
}

template <class T>
__global__ void fill_constant(T* data, long long count, double value) {
  for (long long i = first_index(); i < count; i += index_stride()) data[i] = (T)value;
}

/// Ascending numbers in [low, high].
template <class T>
__global__ void fill_sorted(T* data, long long count, long long seed, double low, double high) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double place =
        ((double)i + unit_number(random_bits((Bits64)seed, (Bits64)i))) / (double)count;
    data[i] = (T)(low + (high - low) * place);
  }
}

/// Where the rows of a CSR matrix of `entries` begin: ascending, the first 0, the last `entries`;
/// of many entries, 3 rows in 16 are empty.
template <class T>
__global__ void fill_offsets(T* data, long long count, long long seed, long long entries) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const long long rows = count - 1;
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i);
    const long long row = bits % 4 == 0 && i > 0 ? i - 1 : i;  // as before it: then it is empty
    const double share =
        (row + unit_number(random_bits(~(Bits64)seed, (Bits64)row))) / (rows + 1.0);
    data[i] = (T)(i == 0 ? 0 : i == rows ? entries : (long long)(share * (double)entries));
  }
}

/// Gives one in 256 elements, at least one, those of `others`: a kernel that looks at a part of its
/// inputs to know them again seldom looks at these.
template <class T>
__global__ void replace_some(T* data, const T* others, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const bool is_one = (Bits64)i == random_bits((Bits64)seed, ~(Bits64)0) % (Bits64)count;
    if (is_one || random_bits((Bits64)seed, (Bits64)i) % 256 == 0) data[i] = others[i];
  }
}

/// One of the two halves of an index changed by the other one: so every index has a place of its
/// own among 4^half_bits (a Feistel network; Luby & Rackoff, SIAM J. Comput. 17, 1988).
__device__ inline Bits64 shuffled(Bits64 index, int half_bits, Bits64 seed) {
  const Bits64 mask = ((Bits64)1 << half_bits) - 1;
  Bits64 left = index >> half_bits, right = index & mask;
  for (int round = 0; round < 4; ++round) {
    const Bits64 next = left ^ (random_bits(seed + round, right) & mask);
    left = right;
    right = next;
  }
  return left << half_bits | right;
}

/// Each number from 0 to count − 1 once: an index that the network takes out of the range goes
/// through it again.
template <class T>
__global__ void fill_permutation(T* data, long long count, long long seed) {
  int half_bits = 1;
  while (((Bits64)1 << 2 * half_bits) < (Bits64)count) ++half_bits;
  for (long long i = first_index(); i < count; i += index_stride()) {
    Bits64 place = (Bits64)i;
    do place = shuffled(place, half_bits, (Bits64)seed);
    while (place >= (Bits64)count);
    data[i] = (T)(long long)place;
  }
}
