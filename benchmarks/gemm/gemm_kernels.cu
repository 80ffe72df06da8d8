// SPDX-License-Identifier: Apache-2.0
// What the benchmark runs beside the contenders.

__device__ unsigned long long mixed(unsigned long long x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Standard normal numbers that depend on the seed and the place alone (Box and Muller).
__global__ void fill_normal(float* data, long long count, unsigned long long seed) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const unsigned long long bits = mixed(mixed(seed) + static_cast<unsigned long long>(i));
    const float radius_from = (static_cast<float>(bits >> 40) + 1.0f) * 0x1p-24f;  // (0, 1]
    const float turn = static_cast<float>(bits & 0xffffffu) * 0x1p-24f;
    data[i] = sqrtf(-2.0f * logf(radius_from)) * cospif(2.0f * turn);
  }
}

__global__ void absolute(float* data, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step) {
    data[i] = fabsf(data[i]);
  }
}

// The largest |a - b| / (factor * magnitude + tiny) over the elements of `rows` rows of `columns`
// in every `ld`; infinity for NaN. *worst must be 0 before: floats from 0 up are ordered as their
// bits are.
__global__ void compare(const float* a, const float* b, const float* magnitude, long long rows,
                        long long columns, long long ld, double factor, unsigned* worst) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  float largest = 0;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < rows * columns; i += step) {
    const long long at = i / columns * ld + i % columns;
    const double difference = fabs(static_cast<double>(a[at]) - static_cast<double>(b[at]));
    const double share = difference / (factor * static_cast<double>(magnitude[at]) + 1e-30);
    const float found = share >= 0 ? static_cast<float>(share) : __int_as_float(0x7f800000);
    largest = fmaxf(largest, found);
  }
  if (largest > 0) atomicMax(worst, __float_as_uint(largest));
}
