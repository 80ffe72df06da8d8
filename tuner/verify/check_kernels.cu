// SPDX-License-Identifier: Apache-2.0
// Kernels with which results are checked where they lie: they make the inputs, and compare a
// result with its reference. Compiled at run time like the kernels they check.

typedef unsigned int Bits32;
typedef unsigned long long Bits64;

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
__device__ inline long long index_stride() { return (long long)gridDim.x * blockDim.x; }

/// Standard normal numbers (Box & Muller 1958). Integer types get them rounded, ×8.
template <class T>
__global__ void fill_normal(T* data, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i);
    const float u = ((float)(Bits32)(bits >> 40) + 1.0f) * 0x1p-24f;  // (0, 1]
    const float v = (float)(Bits32)(bits & 0xFFFFFF) * 0x1p-24f;      // [0, 1)
    const float x = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
    data[i] = (T)0.5f == (T)0 ? (T)(x * 8.0f) : (T)x;
  }
}

/// Whole numbers in [-range, range]: sums of their products are exact in float while they stay
/// below 2^24, so a right result equals its reference bit for bit.
template <class T>
__global__ void fill_whole(T* data, long long count, long long seed, int range) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits32 draw = (Bits32)(random_bits((Bits64)seed, (Bits64)i) >> 33) % (2 * range + 1);
    data[i] = (T)((int)draw - range);
  }
}

template <class T>
__global__ void absolute(T* result, const T* data, long long count) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    result[i] = data[i] < (T)0 ? (T)(-data[i]) : data[i];
  }
}

/// report[0] += wrong elements, report[1] = min(index of a wrong one), report[2] = max(bits of the
/// largest error as a share of its bound, a float). An element c is wrong when
/// !(|c − r| <= factor·magnitude + tiny), so that NaN is; without magnitudes when !(c == r).
template <class T>
__global__ void compare(const T* result, const T* reference, const T* magnitude, long long count,
                        double factor, Bits64* report) {
  __shared__ Bits64 wrong, first;
  __shared__ Bits32 worst;
  if (threadIdx.x == 0) {
    wrong = 0;
    first = ~0ull;
    worst = 0;
  }
  __syncthreads();
  Bits64 my_wrong = 0, my_first = ~0ull;
  float my_worst = 0.0f;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double c = (double)result[i];
    const double r = (double)reference[i];
    const double difference = c > r ? c - r : r - c;
    const double bound = magnitude ? factor * (double)magnitude[i] + 1e-37 : 0.0;
    const bool right = magnitude ? difference <= bound : result[i] == reference[i];
    if (!right) {
      ++my_wrong;
      if ((Bits64)i < my_first) my_first = (Bits64)i;
    }
    const float share = magnitude && difference == difference ? (float)(difference / bound)
                                                              : (right ? 0.0f : 3.0e38f);
    if (share > my_worst) my_worst = share;
  }
  if (my_wrong) {
    atomicAdd(&wrong, my_wrong);
    atomicMin(&first, my_first);
  }
  atomicMax(&worst, __float_as_uint(my_worst));
  __syncthreads();
  if (threadIdx.x == 0) {
    if (wrong) {
      atomicAdd(&report[0], wrong);
      atomicMin(&report[1], first);
    }
    atomicMax(&report[2], (Bits64)worst);
  }
}

/// The element at an index, of a result and of its reference, for the message about it.
template <class T>
__global__ void pick(const T* result, const T* reference, long long index, double* values) {
  values[0] = (double)result[index];
  values[1] = (double)reference[index];
}
