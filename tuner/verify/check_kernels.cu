// SPDX-License-Identifier: Apache-2.0
// Kernels with which results are checked where they lie: they make the inputs and the error bounds,
// and look at all that a launch left. Compiled at run time like the kernels they check.
#include "check_parts.hpp"

using tuner::verify::CheckPart;
using tuner::verify::kMostCheckParts;
using tuner::verify::kSquareUnit;
using tuner::verify::kUnwritten;
using tuner::verify::PartReport;
using tuner::verify::Poison;

typedef unsigned int Bits32;
typedef unsigned long long Bits64;

// ---- element types

/// A floating-point number that C++ has no type for: a sign, the exponent, the fraction and unused
/// bits. Computed with as a float, which holds it exactly; rounded to nearest even from a double.
template <class Word, int kExponentBits, int kFractionBits, int kUnusedBits, bool kHasInfinity>
struct ShortFloat {
  typedef Word Bits;
  static constexpr Bits64 kHidden = (Bits64)1 << kFractionBits;
  static constexpr Bits64 kAll = (kHidden << kExponentBits) - 1;
  /// The bits of the largest number, without the sign and the unused ones.
  static constexpr Bits64 kLargest = kHasInfinity ? kAll - kHidden : kAll - 1;
  static constexpr int kUnused = kUnusedBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  Word bits;

  ShortFloat() = default;
  template <class Number>
  __device__ explicit ShortFloat(Number value) : bits(rounded((double)value)) {}

  __device__ operator float() const {
    const Bits32 word = (Bits32)bits;
    const bool negative = word >> (8 * sizeof(Word) - 1) & 1;
    const Bits32 magnitude = (Bits32)(word >> kUnusedBits & kAll);
    float value;
    if (magnitude > kLargest) {
      value =
          __uint_as_float(kHasInfinity && magnitude == kLargest + 1 ? 0x7F800000u : 0x7FFFFFFFu);
    } else if (kBias == 127 || magnitude >= kHidden) {
      value = __uint_as_float((magnitude << (23 - kFractionBits)) + ((Bits32)(127 - kBias) << 23));
    } else {
      value = (float)magnitude * __uint_as_float((Bits32)(128 - kBias - kFractionBits) << 23);
    }
    return negative ? -value : value;
  }

  __device__ static Word rounded(double value) {
    const Bits64 word = (Bits64)__double_as_longlong(value);
    const Bits64 magnitude = word & 0x7FFFFFFFFFFFFFFFull;
    const Word sign = (Word)((word >> 63) << (8 * sizeof(Word) - 1));
    if (magnitude > 0x7FF0000000000000ull) return (Word)(kAll << kUnusedBits);
    const int exponent = (int)(magnitude >> 52) - 1023;
    const int below = 1 - kBias - exponent;  // above 0: less than the least normal number
    if (below > kFractionBits + 1) return sign;
    const int dropped = 52 - kFractionBits + (below > 0 ? below : 0);
    const Bits64 significand = (magnitude & 0xFFFFFFFFFFFFFull) | 0x10000000000000ull;
    const Bits64 rest = significand & (((Bits64)1 << dropped) - 1),
                 half = (Bits64)1 << (dropped - 1);
    Bits64 result = significand >> dropped;
    if (rest > half || (rest == half && (result & 1))) ++result;
    if (below < 0) result += (Bits64)-below << kFractionBits;
    if (result > kLargest) result = kLargest + 1;
    return (Word)(sign | (Word)(result << kUnusedBits));
  }
};

/// Numbers that a poison kind makes: 64 bits, of elements as many as fit; of them some fixed, the
/// others at random.
struct Pattern {
  Bits64 fixed, free;
};

#include "element_types.hpp"

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
__device__ inline long long index_stride() {
  return (long long)gridDim.x * blockDim.x;
}

template <class T>
constexpr bool kFloating = (T)0.5f != (T)0;
template <class T>
constexpr bool kUnsigned = (T)-1 > (T)0;

/// The type of an error of a number, and whether results of the type are rounded from a finer one.
template <class T>
struct ErrorOf {
  typedef T Type;
};
template <class Word, int kExponent, int kFraction, int kUnused, bool kInfinity>
constexpr bool kFloating<ShortFloat<Word, kExponent, kFraction, kUnused, kInfinity>> = true;
template <class Word, int kExponent, int kFraction, int kUnused, bool kInfinity>
constexpr bool kUnsigned<ShortFloat<Word, kExponent, kFraction, kUnused, kInfinity>> = false;
template <class Word, int kExponent, int kFraction, int kUnused, bool kInfinity>
struct ErrorOf<ShortFloat<Word, kExponent, kFraction, kUnused, kInfinity>> {
  typedef float Type;
};
template <class T>
using Error = typename ErrorOf<T>::Type;

// ---- inputs

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
__global__ void fill_uniform(T* data, long long count, long long seed) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    // 24 bits, so that a float does not round it to 1.
    data[i] = (T)((float)(Bits32)(random_bits((Bits64)seed, (Bits64)i) >> 40) * 0x1p-24f);
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

/// Where element (row, column) of op(X) lies in a matrix X with rows of `ld` elements.
__device__ inline long long place(int transposed, long long ld, long long row, long long column) {
  return transposed ? column * ld + row : row * ld + column;
}

/// The product of a batch of matrices of integers, exactly where no sum leaves 64 bits.
template <class To, class From>
__global__ void product(To* c, const From* a, const From* b, long long m, long long n, long long k,
                        long long batch, int trans_a, int trans_b, long long lda, long long ldb,
                        long long ldc, long long stride_a, long long stride_b, long long stride_c,
                        long long alpha, long long beta) {
  for (long long i = first_index(); i < batch * m * n; i += index_stride()) {
    const long long row = i / n % m, column = i % n, matrix = i / n / m;
    long long sum = 0;
    for (long long step = 0; step < k; ++step) {
      sum += (long long)a[matrix * stride_a + place(trans_a, lda, row, step)] *
             (long long)b[matrix * stride_b + place(trans_b, ldb, step, column)];
    }
    To* const to = c + matrix * stride_c + row * ldc + column;
    *to = (To)(alpha * sum + (beta == 0 ? 0 : beta * (long long)*to));
  }
}

/// c = f(c + bias + residual), in double: bias 1: of columns, 2: of rows; f 1: ReLU, 2: GELU by
/// tanh.
template <class T, class Given>
__global__ void finish_product(T* c, const Given* bias, const Given* residual, long long m,
                               long long n, long long batch, long long ldc, long long stride_c,
                               int bias_kind, int activation, int has_residual) {
  for (long long i = first_index(); i < batch * m * n; i += index_stride()) {
    const long long row = i / n % m, column = i % n;
    const long long place = i / n / m * stride_c + row * ldc + column;
    double x = (double)c[place];
    if (bias_kind) x += (double)bias[bias_kind == 1 ? column : row];
    if (has_residual) x += (double)residual[place];
    if (activation == 1 && x < 0) x = 0;
    if (activation == 2) {
      x = x / 2 * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    }
    c[place] = (T)x;
  }
}

/// The sum of two matrices of integers; a factor of zero leaves its matrix unread.
template <class T>
__global__ void sum(T* c, const T* a, const T* b, long long m, long long n, int trans_a,
                    int trans_b, long long lda, long long ldb, long long ldc, long long alpha,
                    long long beta) {
  for (long long i = first_index(); i < m * n; i += index_stride()) {
    const long long row = i / n, column = i % n;
    c[row * ldc + column] =
        (T)((alpha == 0 ? 0 : alpha * (long long)a[place(trans_a, lda, row, column)]) +
            (beta == 0 ? 0 : beta * (long long)b[place(trans_b, ldb, row, column)]));
  }
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
/// a quarter of the rows is empty.
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

// ---- references and bounds

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

/// The same numbers, each 1 to 4 units in the last place larger or smaller; 0 stays 0.
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
  }
}

/// sums[0] += the exponents of the spreads above 0, sums[1] += their number.
template <class T>
__global__ void add_exponents(const T* spread, long long count, Bits64* sums) {
  long long exponents = 0;
  Bits64 terms = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    if (!(spread[i] > (T)0)) continue;
    exponents += (long long)floor(log2((double)spread[i]));
    ++terms;
  }
  if (terms == 0) return;
  atomicAdd(&sums[0], (Bits64)exponents);
  atomicAdd(&sums[1], terms);
}

/// What is the spread of a reference becomes the error allowed:
/// factor·max(spread, floor) + relative·|reference| + tiny.
template <class T>
__global__ void allow_spread(Error<T>* spread, const T* reference, long long count, double factor,
                             double floor, double relative, double tiny) {
  for (long long i = first_index(); i < count; i += index_stride()) {
    const double s = (double)spread[i];
    const double r = reference[i] < (T)0 ? -(double)reference[i] : (double)reference[i];
    spread[i] =
        (Error<T>)(factor * (s > floor ? s : floor) + relative * (r - r == 0 ? r : 0) + tiny);
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
      right = difference <= (double)allowed[i];
      if (difference == difference) share = (float)(difference / (double)allowed[i]);
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

__device__ inline PartReport look_at(const CheckPart& part, const unsigned char* candidate,
                                     const unsigned char* reference, const Poison& poison) {
  if (part.kind != CheckPart::output) {
    return look_at_words(part, candidate, reference, poison);
  }
#define TUNER_COMPARE(number, T) \
  if (part.type == number) return compare<T>(part, candidate, reference, poison);
  TUNER_ELEMENT_TYPES(TUNER_COMPARE)
#undef TUNER_COMPARE
  return nothing_found();
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

/// Looks at every part after a launch on this poison; at repetitions only with `with_repeats`. The
/// block that ends last moves the sums from `gathered` to `reports` and leaves `gathered` as it
/// must be before the next launch. A template only to be compiled where it is named: for all types
/// the compiler takes ten times as long as for the other kernels.
template <class = void>
__global__ void inspect(const unsigned char* candidate, const unsigned char* reference,
                        const CheckPart* parts, int part_count, int kind, long long seed,
                        int with_repeats, PartReport* gathered, PartReport* reports,
                        Bits32* blocks_done) {
  __shared__ PartReport mine[kMostCheckParts];
  __shared__ Bits32 earlier;
  for (int p = threadIdx.x; p < part_count; p += blockDim.x) mine[p] = nothing_found();
  __syncthreads();
  for (int p = 0; p < part_count; ++p) {
    const CheckPart part = parts[p];
    if (part.kind == CheckPart::repeat && !with_repeats) continue;
    if (first_index() < (part.count > part.words ? part.count : part.words)) {
      add(mine[p], look_at(part, candidate, reference, poison_of(part, kind, seed)));
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

/// sums[0] += the elements of two runs of a reference, on outputs that held kUnwritten and `other`
/// before, that depend on that; sums[1] += those that both runs left.
template <class T>
__global__ void count_dependent(const T* first, const T* second, long long count, unsigned other,
                                Bits64* sums) {
  Bits64 dependent = 0, left = 0;
  for (long long i = first_index(); i < count; i += index_stride()) {
    const T a = first[i], b = second[i];
    if (is_unwritten(first, i) && is_made_of(second, i, [=](long long) { return other; })) {
      ++left;
      continue;
    }
    if (a == b || (a != a && b != b)) continue;
    const double difference = (double)a > (double)b ? (double)a - (double)b : (double)b - (double)a;
    const double size = fabs((double)a) + fabs((double)b);
    // A reference that adds up in another order each time differs by a little.
    if (!kFloating<T> || !(difference <= 0.01 * size)) ++dependent;
  }
  if (dependent) atomicAdd(&sums[0], dependent);
  if (left) atomicAdd(&sums[1], left);
}
