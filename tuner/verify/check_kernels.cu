// SPDX-License-Identifier: Apache-2.0
// Kernels with which results are checked where they lie: they make the inputs, and look at all that
// a launch left. Compiled at run time like the kernels they check.
#include "check_parts.hpp"

using tuner::CheckPart;
using tuner::CheckReport;
using tuner::kMostCheckParts;
using tuner::kUnwritten;

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

template <class T>
constexpr bool kUnsigned = (T)-1 > (T)0;

/// Standard normal numbers (Box & Muller 1958). Integer types get them rounded, ×8; unsigned ones their
/// absolute values.
template <class T>
__global__ void fill_normal(T* data, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits64 bits = random_bits((Bits64)seed, (Bits64)i);
    const float u = ((float)(Bits32)(bits >> 40) + 1.0f) * 0x1p-24f;  // (0, 1]
    const float v = (float)(Bits32)(bits & 0xFFFFFF) * 0x1p-24f;      // [0, 1)
    const float x = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
    if (kUnsigned<T>) {
      data[i] = (T)(fabsf(x) * 8.0f);
    } else {
      data[i] = (T)0.5f == (T)0 ? (T)(x * 8.0f) : (T)x;
    }
  }
}

/// Whole numbers in [-range, range], of an unsigned type in [0, range]: sums of their products are exact in float while they stay
/// below 2^24, so a right result equals its reference bit for bit.
template <class T>
__global__ void fill_whole(T* data, long long count, long long seed, int range) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const Bits32 bits = (Bits32)(random_bits((Bits64)seed, (Bits64)i) >> 33);
    data[i] = kUnsigned<T> ? (T)(bits % (range + 1)) : (T)((int)(bits % (2 * range + 1)) - range);
  }
}

template <class T>
__global__ void absolute(T* result, const T* data, long long count) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    result[i] = data[i] < (T)0 ? (T)(-data[i]) : data[i];
  }
}

/// Words that are NaN as a float, and two of them as a double, and never twice the same: what a
/// kernel copies from one place of this kind to another shows there too.
__device__ inline Bits32 nan_word(Bits64 seed, long long index) {
  return 0x7FF00000u | (Bits32)(random_bits(seed, (Bits64)index) >> 44);
}

/// Whether an element is made of words as `word` gives them, by their numbers.
template <class T, class Word>
__device__ bool is_made_of(const T* data, long long index, Word word) {
  if constexpr (sizeof(T) < sizeof(Bits32)) {
    constexpr int kParts = sizeof(Bits32) / sizeof(T);
    const Bits32 whole = word(index / kParts);
    return data[index] == ((const T*)&whole)[index % kParts];
  } else {
    constexpr int kWords = sizeof(T) / sizeof(Bits32);
    for (long long i = index * kWords; i < (index + 1) * kWords; ++i) {
      if (((const Bits32*)data)[i] != word(i)) return false;
    }
    return true;
  }
}

/// The elements of a matrix's buffer that belong to no row get NaN words: those that are not at
/// outer·outer_step + inner·inner_step + column.
template <class T>
__global__ void poison_padding(T* data, long long count, long long seed, long long outer_count,
                               long long outer_step, long long inner_count, long long inner_step,
                               long long columns) {
  constexpr int kWords = sizeof(T) / sizeof(Bits32);
  for (long long i = first_index(); i < count; i += index_stride()) {
    const long long rest = i % outer_step;
    const bool used = i / outer_step < outer_count && rest / inner_step < inner_count &&
                      rest % inner_step < columns;
    if (used) continue;
    for (int word = 0; word < kWords; ++word) {
      ((Bits32*)data)[i * kWords + word] = nan_word((Bits64)seed, i * kWords + word);
    }
  }
}

/// Gives every output what it holds before a launch: its initial content, or NaN words of `poison`.
/// With `lay_guards` it also fills the guard zones.
__global__ void prepare(unsigned char* candidate, const unsigned char* reference,
                        const CheckPart* parts, int part_count, long long poison, int lay_guards) {
  for (int p = 0; p < part_count; ++p) {
    const CheckPart part = parts[p];
    if (part.kind != CheckPart::output && !(lay_guards && part.kind == CheckPart::guard)) continue;
    Bits32* const words = (Bits32*)(candidate + part.offset);
    const Bits32* const initial =
        part.initial < 0 ? nullptr : (const Bits32*)(reference + part.initial);
    const Bits64 seed = part.kind == CheckPart::guard ? (Bits64)part.offset : (Bits64)poison;
    for (long long i = first_index(); i < part.words; i += index_stride()) {
      words[i] = initial ? initial[i] : nan_word(seed, i);
    }
  }
}

__device__ inline CheckReport nothing_found() { return {0, ~0ull, 0, 0, 0}; }

__device__ inline void count_wrong(CheckReport& found, long long index) {
  if (found.wrong++ == 0) found.first = (Bits64)index;
  found.last = (Bits64)index;
}

/// Whether an element is still the poison that it was given before the launch.
template <class T>
__device__ bool is_untouched(const T* data, long long index, Bits64 poison) {
  return is_made_of(data, index, [=](long long word) { return nan_word(poison, word); });
}

/// Whether the reference left an element as it is.
template <class T>
__device__ bool is_unwritten(const T* expected, long long index) {
  return is_made_of(expected, index, [](long long) { return kUnwritten; });
}

/// The bits of a word, by halves, that the reference left and that still are the poison.
__device__ inline Bits32 left_bits(Bits32 expected, Bits32 word, Bits32 poison) {
  const Bits32 changed = (expected ^ kUnwritten) | (word ^ poison);
  return (changed & 0xFFFFu ? 0u : 0xFFFFu) | (changed >> 16 ? 0u : 0xFFFF0000u);
}

/// An element c is wrong when !(|c − r| <= factor·magnitude + tiny), so that NaN is; without
/// magnitudes when !(c == r). What the reference left as it is must be left as it is.
template <class T>
__device__ CheckReport compare(const CheckPart& part, const unsigned char* candidate,
                               const unsigned char* reference, Bits64 poison) {
  const T* const result = (const T*)(candidate + part.offset);
  const T* const expected = (const T*)(reference + part.expected);
  const T* const magnitude = part.magnitude < 0 ? nullptr : (const T*)(reference + part.magnitude);
  CheckReport found = nothing_found();
  float worst = 0.0f;
  for (long long i = first_index(); i < part.count; i += index_stride()) {
    const double c = (double)result[i];
    const double r = (double)expected[i];
    const double difference = c > r ? c - r : r - c;
    const double bound = magnitude ? part.factor * (double)magnitude[i] + 1e-37 : 0.0;
    const bool left = is_unwritten(expected, i) && is_untouched(result, i, poison);
    const bool right = left || (magnitude ? difference <= bound : result[i] == expected[i]);
    if (!right) count_wrong(found, i);
    const float share = magnitude && difference == difference ? (float)(difference / bound)
                                                              : (right ? 0.0f : 3.0e38f);
    if (share > worst) worst = share;
  }
  found.worst = __float_as_uint(worst);
  return found;
}

/// Looks at words: at a repetition, a guard zone, an input or the reference.
__device__ inline CheckReport look_at_words(const CheckPart& part, const unsigned char* candidate,
                                            const unsigned char* reference, Bits64 poison) {
  const bool hidden = part.kind == CheckPart::reference;
  const Bits32* const words = (const Bits32*)((hidden ? reference : candidate) + part.offset);
  const Bits32* const before =
      part.before < 0 ? nullptr : (const Bits32*)(reference + part.before);
  const Bits32* const expected = (const Bits32*)(reference + part.expected);
  CheckReport found = nothing_found();
  for (long long i = first_index(); i < part.words; i += index_stride()) {
    if (part.kind == CheckPart::guard) {
      if (words[i] != nan_word((Bits64)part.offset, i)) count_wrong(found, i);
    } else if (before) {
      const Bits32 left = left_bits(expected[i], words[i], nan_word(poison, i));
      if ((words[i] ^ before[i]) & ~left) count_wrong(found, i);
    } else {
      found.fingerprint += random_bits((Bits64)words[i] << 32, (Bits64)i);
    }
  }
  return found;
}

__device__ inline CheckReport look_at(const CheckPart& part, const unsigned char* candidate,
                                      const unsigned char* reference, Bits64 poison) {
  if (part.kind != CheckPart::output) {
    return look_at_words(part, candidate, reference, poison);
  }
  switch (part.type) {  // the order of ElementType
    case 0: return compare<int>(part, candidate, reference, poison);
    case 1: return compare<unsigned>(part, candidate, reference, poison);
    case 2: return compare<long long>(part, candidate, reference, poison);
    case 3: return compare<float>(part, candidate, reference, poison);
    case 4: return compare<double>(part, candidate, reference, poison);
    default: return compare<unsigned short>(part, candidate, reference, poison);
  }
}

__device__ inline void add(CheckReport& total, const CheckReport& found) {
  if (found.wrong) {
    atomicAdd(&total.wrong, found.wrong);
    atomicMin(&total.first, found.first);
    atomicMax(&total.last, found.last);
  }
  if (found.worst) atomicMax(&total.worst, found.worst);
  if (found.fingerprint) atomicAdd(&total.fingerprint, found.fingerprint);
}

/// Looks at every part after a launch on outputs of this `poison`; at repetitions only with
/// `with_repeats`. The block that ends last moves the
/// sums from `gathered` to `reports` and leaves `gathered` as it must be before the next launch.
__global__ void inspect(const unsigned char* candidate, const unsigned char* reference,
                        const CheckPart* parts, int part_count, long long poison,
                        int with_repeats, CheckReport* gathered, CheckReport* reports, Bits32* blocks_done) {
  __shared__ CheckReport mine[kMostCheckParts];
  __shared__ Bits32 earlier;
  for (int p = threadIdx.x; p < part_count; p += blockDim.x) mine[p] = nothing_found();
  __syncthreads();
  for (int p = 0; p < part_count; ++p) {
    const CheckPart part = parts[p];
    if (part.kind == CheckPart::repeat && !with_repeats) continue;
    if (first_index() < (part.count > part.words ? part.count : part.words)) {
      add(mine[p], look_at(part, candidate, reference, (Bits64)poison));
    }
  }
  __syncthreads();
  for (int p = threadIdx.x; p < part_count; p += blockDim.x) add(gathered[p], mine[p]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) earlier = atomicAdd(blocks_done, 1u);
  __syncthreads();
  if (earlier + 1 != gridDim.x) return;
  __threadfence();
  for (int p = threadIdx.x; p < part_count; p += blockDim.x) {
    reports[p] = gathered[p];
    gathered[p] = nothing_found();
  }
  if (threadIdx.x == 0) *blocks_done = 0;
}

/// An element for the message about it: the result, its reference, its magnitude (null: 0), 1 when
/// the result is still the poison it was given before the launch, and 1 when the reference is.
template <class T>
__global__ void pick(const T* result, const T* reference, const T* magnitude, long long index,
                     long long poison, double* values) {
  values[0] = (double)result[index];
  values[1] = (double)reference[index];
  values[2] = magnitude ? (double)magnitude[index] : 0.0;
  values[3] = is_untouched(result, index, (Bits64)poison) ? 1.0 : 0.0;
  values[4] = is_unwritten(reference, index) ? 1.0 : 0.0;
}
