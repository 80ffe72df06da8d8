// SPDX-License-Identifier: Apache-2.0
// What the benchmark runs beside the contenders, for any element type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__device__ unsigned long long mixed(unsigned long long x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

template <class T>
__device__ T from_float(float value) {
  return static_cast<T>(value);
}
template <>
__device__ signed char from_float(float value) {
  return static_cast<signed char>(fminf(fmaxf(rintf(value), -127.0f), 127.0f));
}

// Standard normal numbers that depend on the seed and the place alone (Box and Muller), 32 times as
// large in bytes.
template <class T>
__global__ void fill_normal(T* data, long long count, unsigned long long seed) {
  const float scale = static_cast<float>(static_cast<T>(0.5f)) == 0.0f ? 32.0f : 1.0f;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const unsigned long long bits = mixed(mixed(seed) + static_cast<unsigned long long>(i));
    const float radius_from = (static_cast<float>(bits >> 40) + 1.0f) * 0x1p-24f;  // (0, 1]
    const float turn = static_cast<float>(bits & 0xffffffu) * 0x1p-24f;
    data[i] = from_float<T>(scale * sqrtf(-2.0f * logf(radius_from)) * cospif(2.0f * turn));
  }
}

template <class T>
__global__ void absolute(T* data, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    data[i] = from_float<T>(fabsf(static_cast<float>(data[i])));
  }
}

template <class T>
__device__ double as_double(T value) {
  return static_cast<double>(static_cast<float>(value));
}
template <>
__device__ double as_double(double value) {
  return value;
}
template <>
__device__ double as_double(int value) {
  return static_cast<double>(value);
}

// The largest |a - b| / (factor * magnitude + relative * |b| + tiny) over the elements of `rows`
// rows of `columns` in every `ld`; infinity for NaN. *worst must be 0 before: floats from 0 up are
// ordered as their bits are.
template <class T>
__global__ void compare(const T* a, const T* b, const T* magnitude, long long rows,
                        long long columns, long long ld, double factor, double relative,
                        unsigned* worst) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  float largest = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < rows * columns; i += step) {
    const long long at = i / columns * ld + i % columns;
    const double difference = fabs(as_double(a[at]) - as_double(b[at]));
    const double share = difference / (factor * as_double(magnitude[at]) +
                                       relative * fabs(as_double(b[at])) + 1e-30);
    const float found = share >= 0 ? static_cast<float>(share) : __int_as_float(0x7f800000);
    largest = fmaxf(largest, found);
  }
  if (largest > 0) atomicMax(worst, __float_as_uint(largest));
}
