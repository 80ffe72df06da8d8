// SPDX-License-Identifier: Apache-2.0
// Kernels with which results are checked where they lie: they make the inputs and the error bounds,
// and look at all that a launch left. Compiled at run time like the kernels they check.
#include "check_bounds.cuh"
#include "check_inputs.cuh"
#include "check_laws.cuh"
#include "check_numbers.cuh"
#include "check_parts.hpp"
#include "check_products.cuh"

using tuner::verify::CheckPart;
using tuner::verify::kIgnored;
using tuner::verify::kInPlace;
using tuner::verify::kMostCheckParts;
using tuner::verify::kSquareUnit;
using tuner::verify::kUnwritten;
using tuner::verify::PartReport;
using tuner::verify::Poison;

// ---- poison

/// The half of an 8-byte pattern: the low one at an even index.
__device__ inline Bits32 half_of(Bits64 pattern, long long index) {
  return (Bits32)(index & 1 ? pattern >> 32 : pattern);
}

/// The word at `index` of memory that holds elements of a type; a whole number of its elements lie
/// before index 0.
__device__ inline Bits32 poison_word(int type, const Poison& poison, long long index) {
  const Pattern& pattern = kPatterns[type][poison.kind];
  const Bits32 free = half_of(pattern.free, index);
  const Bits32 random = free ? (Bits32)random_bits(poison.seed, (Bits64)index) : 0;
  return half_of(pattern.fixed, index) | (random & free);
}

/// The poison of a part, other than that of its neighbours.
__device__ inline Poison poison_of(const CheckPart& part, int kind, long long seed) {
  return {kind, (Bits64)seed * 0x100000001B3ull + (Bits64)part.offset};
}

/// An element of memory whose words are as `word` gives them, by their numbers.
template <class T, class Word>
__device__ void make_of(T* data, long long index, Word word) {
  if constexpr (sizeof(T) < sizeof(Bits32)) {
    constexpr int kParts = sizeof(Bits32) / sizeof(T);
    const Bits32 whole = word(index / kParts);
    data[index] = ((const T*)&whole)[index % kParts];
  } else {
    constexpr int kWords = sizeof(T) / sizeof(Bits32);
    for (long long i = index * kWords; i < (index + 1) * kWords; ++i) ((Bits32*)data)[i] = word(i);
  }
}

/// The elements of a matrix's buffer that belong to no row get NaN: those that are not at
/// outer·outer_step + inner·inner_step + column.
template <class T>
__global__ void poison_padding(T* data, long long count, int type, long long seed,
                               long long outer_count, long long outer_step, long long inner_count,
                               long long inner_step, long long columns) {
  const Poison nan{tuner::verify::nan_poison, (Bits64)seed};
  for (long long i = first_index(); i < count; i += index_stride()) {
    const long long rest = i % outer_step;
    const bool used = i / outer_step < outer_count && rest / inner_step < inner_count &&
                      rest % inner_step < columns;
    if (used) continue;
    make_of(data, i, [&](long long word) { return poison_word(type, nan, word); });
  }
}

/// Gives every output what it holds before a launch, its initial content or poison, and every guard
/// zone its poison. A template only to be compiled where it is named.
template <class = void>
__global__ void prepare(unsigned char* candidate, const unsigned char* reference,
                        const CheckPart* parts, int part_count, int kind, long long seed) {
  for (int p = 0; p < part_count; ++p) {
    const CheckPart part = parts[p];
    if (part.kind != CheckPart::output && part.kind != CheckPart::guard) continue;
    Bits32* const words = (Bits32*)(candidate + part.offset);
    const Bits32* const initial =
        part.initial < 0 ? nullptr : (const Bits32*)(reference + part.initial);
    const bool zeros = part.initial == CheckPart::zeros;
    const Poison poison = poison_of(part, kind, seed);
    for (long long i = first_index(); i < part.words; i += index_stride()) {
      words[i] = initial ? initial[i] : zeros ? 0 : poison_word(part.type, poison, i);
    }
  }
}

// ---- looking at results

__device__ inline PartReport nothing_found() {
  return {0, ~0ull, 0, 0, 0, 0};
}

__device__ inline void count_wrong(PartReport& found, long long index) {
  if (found.wrong++ == 0) found.first = (Bits64)index;
  found.last = (Bits64)index;
}

/// Whether an element is made of words as `word` gives them, by their numbers.
template <class T, class Word>
__device__ bool is_made_of(const T* data, long long index, Word word) {
  if constexpr (sizeof(T) < sizeof(Bits32)) {
    constexpr int kParts = sizeof(Bits32) / sizeof(T);
    const Bits32 whole = word(index / kParts);
    Bits32 is = 0, should_be = 0;
    *(T*)&is = data[index];
    *(T*)&should_be = ((const T*)&whole)[index % kParts];
    return is == should_be;
  } else {
    constexpr int kWords = sizeof(T) / sizeof(Bits32);
    for (long long i = index * kWords; i < (index + 1) * kWords; ++i) {
      if (((const Bits32*)data)[i] != word(i)) return false;
    }
    return true;
  }
}

/// Whether an element is still the poison that it was given before the launch.
template <class T>
__device__ bool is_untouched(const T* data, long long index, int type, const Poison& poison) {
  return is_made_of(data, index, [&](long long word) { return poison_word(type, poison, word); });
}

/// Whether the reference left an element as it is.
template <class T>
__device__ bool is_unwritten(const T* expected, long long index) {
  return is_made_of(expected, index, [](long long) { return kUnwritten; });
}

/// Numbers of one type as numbers of another, rounded once. What a reference left is left.
template <class To, class From>
__global__ void convert(To* to, const From* from, long long count) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    if (is_unwritten(from, i)) {
      make_of(to, i, [](long long) { return kUnwritten; });
    } else {
      to[i] = (To)(double)from[i];
    }
  }
}

/// The bits of a word, by bytes, that the reference left and that still are the poison.
__device__ inline Bits32 left_bits(Bits32 expected, Bits32 word, Bits32 poison) {
  const Bits32 changed = (expected ^ kUnwritten) | (word ^ poison);
  Bits32 left = 0;
  for (int shift = 0; shift < 32; shift += 8) {
    if (!(changed >> shift & 0xFFu)) left |= 0xFFu << shift;
  }
  return left;
}

/// An element c with reference r is right when c == r, when both are NaN, or where errors are
/// allowed when |c − r| is no larger. What the reference left as it is must be left as it is, and
/// what it wrote must be written.
template <class T>
__device__ PartReport compare(const CheckPart& part, const unsigned char* candidate,
                              const unsigned char* reference, const Poison& poison) {
  const T* const result = (const T*)(candidate + part.offset);
  const T* const expected = (const T*)(reference + part.expected);
  const Error<T>* const allowed =
      part.allowed < 0 ? nullptr : (const Error<T>*)(reference + part.allowed);
  PartReport found = nothing_found();
  float worst = 0.0f;
  for (long long i = first_index(); i < part.count; i += index_stride()) {
    const T c = result[i], r = expected[i];
    bool right = c == r;
    if (right) continue;
    float share = 0.0f;
    const bool untouched = is_untouched(result, i, part.type, poison);
    if (untouched || (c != c && r != r)) {
      right = untouched == is_unwritten(expected, i);
    }
    if (!right && allowed && (double)r - (double)r == 0) {
      const double difference = c > r ? (double)c - (double)r : (double)r - (double)c;
      // Allowed without bound: inputs that are hardly other ones have no finite result.
      right = difference <= (double)allowed[i] || (double)allowed[i] > 1.7e308;
      const double ratio = difference / (double)allowed[i];
      if (ratio == ratio) share = (float)ratio;
    }
    if (!right) {
      count_wrong(found, i);
      if (!(share > 1.0f)) share = 3.0e38f;
    }
    if (share > worst) worst = share;
    const double square = share > 2.0f ? 4.0 : (double)share * (double)share;
    found.squares += (Bits64)(square / kSquareUnit);
  }
  found.worst = __float_as_uint(worst);
  return found;
}

/// Looks at words: at a repetition, a guard zone, an input or the reference.
__device__ inline PartReport look_at_words(const CheckPart& part, const unsigned char* candidate,
                                           const unsigned char* reference, const Poison& poison) {
  const bool hidden = part.kind == CheckPart::reference;
  const Bits32* const words = (const Bits32*)((hidden ? reference : candidate) + part.offset);
  const Bits32* const before = part.before < 0 ? nullptr : (const Bits32*)(reference + part.before);
  const Bits32* const expected = (const Bits32*)(reference + part.expected);
  PartReport found = nothing_found();
  for (long long i = first_index(); i < part.words; i += index_stride()) {
    if (part.kind == CheckPart::guard) {
      if (words[i] != poison_word(part.type, poison, i)) count_wrong(found, i);
    } else if (before) {
      const Bits32 left = left_bits(expected[i], words[i], poison_word(part.type, poison, i));
      if ((words[i] ^ before[i]) & ~left) count_wrong(found, i);
    } else {
      found.fingerprint += random_bits((Bits64)words[i] << 32, (Bits64)i);
    }
  }
  return found;
}

/// The bits of an element of 1, 2, 4 or 8 bytes.
__device__ inline Bits64 element_bits(const unsigned char* data, int bytes, long long index) {
  if (bytes == 1) return data[index];
  if (bytes == 2) return ((const unsigned short*)data)[index];
  if (bytes == 4) return ((const Bits32*)data)[index];
  return ((const Bits64*)data)[index];
}

/// The bits of an element whose memory is made of words as `word` gives them, by their numbers.
template <class Word>
__device__ Bits64 element_of_words(int bytes, long long index, Word word) {
  if (bytes == 8) return word(2 * index) | (Bits64)word(2 * index + 1) << 32;
  const int in_word = 4 / bytes, bits = 8 * bytes;
  return word(index / in_word) >> (int)(index % in_word) * bits & (((Bits64)1 << bits) - 1);
}

/// Whether an element has the bits that it should have, or was left as the reference left it.
__device__ inline bool is_in_place(const CheckPart& part, const unsigned char* candidate,
                                   const unsigned char* reference, const Poison& poison,
                                   long long index) {
  const int bytes = part.element_bytes;
  const long long other = part.kind == CheckPart::repeat ? part.before : part.expected;
  const Bits64 is = element_bits(candidate + part.offset, bytes, index);
  if (is == element_bits(reference + other, bytes, index)) return true;
  const auto unwritten = [](long long) { return kUnwritten; };
  const auto poisoned = [&](long long word) { return poison_word(part.type, poison, word); };
  return element_bits(reference + part.expected, bytes, index) ==
             element_of_words(bytes, index, unwritten) &&
         is == element_of_words(bytes, index, poisoned);
}

/// The records of this part and those that follow it. In place they are compared by bits; of the
/// others the fingerprint is 0 when they are, in some order, those of the reference or repetition.
__device__ inline PartReport look_at_records(const CheckPart& first, const CheckPart* parts,
                                             const unsigned char* candidate,
                                             const unsigned char* reference, int kind,
                                             long long seed) {
  const Bits32* const rows = (const Bits32*)(reference + first.rows);
  PartReport found = nothing_found();
  for (long long i = first_index(); i < first.records; i += index_stride()) {
    const Bits32 row = rows[i];
    if (row == kIgnored) continue;
    Bits64 is = random_bits(row, 0), should_be = is;
    for (const CheckPart* part = &first;; part = parts + part->next) {
      const unsigned char* const other =
          reference + (part->kind == CheckPart::repeat ? part->before : part->expected);
      for (long long e = i * part->elements; e < (i + 1) * part->elements; ++e) {
        if (row != kInPlace) {
          is = random_bits(is, element_bits(candidate + part->offset, part->element_bytes, e));
          should_be = random_bits(should_be, element_bits(other, part->element_bytes, e));
        } else if (!is_in_place(*part, candidate, reference, poison_of(*part, kind, seed), e)) {
          count_wrong(found, e);
        }
      }
      if (part->next < 0) break;
    }
    if (row != kInPlace) found.fingerprint += is - should_be;
  }
  return found;
}

/// What fills the last word behind the records of a part.
__device__ inline void look_behind_records(PartReport& found, const CheckPart& part,
                                           const unsigned char* candidate,
                                           const unsigned char* reference, const Poison& poison) {
  const long long end = part.records * part.elements;
  for (long long e = end + first_index(); e < part.count; e += index_stride()) {
    if (!is_in_place(part, candidate, reference, poison, e)) count_wrong(found, e);
  }
}

template <int kNumber>
struct ElementTypeOf;
#define TUNER_NUMBER(number, T)  \
  template <>                    \
  struct ElementTypeOf<number> { \
    typedef T Type;              \
  };
TUNER_ELEMENT_TYPES(TUNER_NUMBER)
#undef TUNER_NUMBER

/// `kOutputTypes` are the numbers of the types that outputs have.
template <int... kOutputTypes>
__device__ PartReport look_at(const CheckPart& part, const unsigned char* candidate,
                              const unsigned char* reference, const Poison& poison) {
  if (part.kind != CheckPart::output) {
    return look_at_words(part, candidate, reference, poison);
  }
  PartReport found = nothing_found();
  ((part.type == kOutputTypes ? (void)(found = compare<typename ElementTypeOf<kOutputTypes>::Type>(
                                           part, candidate, reference, poison))
                              : (void)0),
   ...);
  return found;
}

__device__ inline void add(PartReport& total, const PartReport& found) {
  if (found.wrong) {
    atomicAdd(&total.wrong, found.wrong);
    atomicMin(&total.first, found.first);
    atomicMax(&total.last, found.last);
  }
  if (found.worst) atomicMax(&total.worst, found.worst);
  if (found.squares) atomicAdd(&total.squares, found.squares);
  if (found.fingerprint) atomicAdd(&total.fingerprint, found.fingerprint);
}

/// Looks at every part after a launch on this poison; at repetitions only with `with_repeats`, at
/// records that may be in any order as such or, with `in_place`, as at other elements. The
/// block that ends last moves the sums from `gathered` to `reports` and leaves `gathered` as it
/// must be before the next launch. `kOutputTypes` are the numbers of the types that outputs have:
/// for all types the compiler takes ten times as long as for the other kernels.
template <int... kOutputTypes>
__global__ void inspect(const unsigned char* candidate, const unsigned char* reference,
                        const CheckPart* parts, int part_count, int kind, long long seed,
                        int with_repeats, int in_place, PartReport* gathered, PartReport* reports,
                        Bits32* blocks_done) {
  __shared__ PartReport mine[kMostCheckParts];
  __shared__ Bits32 earlier;
  for (int p = threadIdx.x; p < part_count; p += blockDim.x) mine[p] = nothing_found();
  __syncthreads();
  for (int p = 0; p < part_count; ++p) {
    const CheckPart part = parts[p];
    if (part.kind == CheckPart::repeat && !with_repeats) continue;
    if (first_index() >= (part.count > part.words ? part.count : part.words)) continue;
    const Poison poison = poison_of(part, kind, seed);
    if (in_place || part.rows == CheckPart::none) {
      add(mine[p], look_at<kOutputTypes...>(part, candidate, reference, poison));
      continue;
    }
    PartReport found = nothing_found();
    if (part.rows >= 0) {
      found = look_at_records(part, parts, candidate, reference, kind, seed);
    }
    look_behind_records(found, part, candidate, reference, poison);
    add(mine[p], found);
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

/// What an element of an output is for the message about it: the result, its counterpart at `other`
/// in the reference memory, the error allowed (0 where none is), 1 when the result is still the
/// poison it was given before the launch, and 1 when the reference left it.
template <class T>
__global__ void pick(const unsigned char* candidate, const unsigned char* reference,
                     const CheckPart* parts, int part_index, long long other, long long index,
                     int kind, long long seed, double* values) {
  const CheckPart part = parts[part_index];
  const T* const result = (const T*)(candidate + part.offset);
  values[0] = (double)result[index];
  values[1] = (double)((const T*)(reference + other))[index];
  values[2] = part.allowed < 0 ? 0.0 : (double)((const Error<T>*)(reference + part.allowed))[index];
  values[3] = is_untouched(result, index, part.type, poison_of(part, kind, seed)) ? 1.0 : 0.0;
  values[4] = is_unwritten((const T*)(reference + part.expected), index) ? 1.0 : 0.0;
}

/// sums[0] += the elements that the reference wrote and that are no whole numbers up to `most`.
template <class T>
__global__ void count_fractions(const T* reference, long long count, double most, Bits64* sums) {
  Bits64 fractions = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    if (is_unwritten(reference, i)) continue;
    const double r = (double)reference[i];
    if (!(r >= -most && r <= most && r == floor(r))) ++fractions;
  }
  if (fractions) atomicAdd(&sums[0], fractions);
}

/// sums[0] += the elements that the reference left unwritten.
template <class T>
__global__ void count_unwritten(const T* reference, long long count, Bits64* sums) {
  Bits64 found = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    if (is_unwritten(reference, i)) ++found;
  }
  if (found) atomicAdd(&sums[0], found);
}

/// sums[0] += the elements that have other bits than the first one.
template <class T>
__global__ void count_unlike_first(const T* data, long long count, Bits64* sums) {
  const unsigned char* const bytes = (const unsigned char*)data;
  Bits64 unlike = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    if (element_bits(bytes, sizeof(T), i) != element_bits(bytes, sizeof(T), 0)) ++unlike;
  }
  if (unlike) atomicAdd(&sums[0], unlike);
}

/// sums[0] += the elements that the reference wrote and that are NaN; sums[1] += those that are
/// infinite.
template <class T>
__global__ void count_not_finite(const T* reference, long long count, Bits64* sums) {
  Bits64 nans = 0, infinities = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double r = (double)reference[i];
    if (r - r == 0 || is_unwritten(reference, i)) continue;
    ++(r == r ? infinities : nans);
  }
  if (nans) atomicAdd(&sums[0], nans);
  if (infinities) atomicAdd(&sums[1], infinities);
}

/// sums[0] += the elements of two runs of a reference, on outputs that held kUnwritten and `other`
/// before, that depend on that; sums[1] += those that both runs left; sums[2] += those that the
/// first run made NaN.
template <class T>
__global__ void count_dependent(const T* first, const T* second, long long count, unsigned other,
                                Bits64* sums) {
  Bits64 dependent = 0, left = 0, nans = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const T a = first[i], b = second[i];
    if (is_unwritten(first, i) && is_made_of(second, i, [=](long long) { return other; })) {
      ++left;
      continue;
    }
    if (a != a) ++nans;
    if (a == b || (a != a && b != b)) continue;
    const double difference = (double)a > (double)b ? (double)a - (double)b : (double)b - (double)a;
    const double size = fabs((double)a) + fabs((double)b);
    // A reference that adds up in another order each time differs by a little.
    if (!kFloating<T> || !(difference <= 0.01 * size)) ++dependent;
  }
  if (dependent) atomicAdd(&sums[0], dependent);
  if (left) atomicAdd(&sums[1], left);
  if (nans) atomicAdd(&sums[2], nans);
}
