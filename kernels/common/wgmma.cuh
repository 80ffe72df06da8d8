// SPDX-License-Identifier: Apache-2.0
// Products of matrices in shared memory by the tensor cores of a warpgroup (wgmma), with a version
// for the host. Compute capability 9.0, architecture sm_90a.
#pragma once

#include "common/element.cuh"
#include "common/operand_type.cuh"
#include "common/shared_memory.cuh"

/// Describes an operand in shared memory: rows (of the second operand: columns) by the steps of K
/// of a product, in the 128-byte swizzle. `address`: of its first element. Atoms of the swizzle,
/// 1024 bytes, are aligned to 1024 bytes.
///
/// K_MAJOR: steps of K are contiguous. An atom has 8 rows of 128 bytes; atoms follow one another.
/// Else, of 16-bit elements only, rows are contiguous: an atom has 8 steps of 64 rows; atoms follow
/// one another along K, and the atoms of the next 64 rows are `atoms_apart` bytes further.
template <bool K_MAJOR>
__device__ __forceinline__ unsigned long long matrix_descriptor(unsigned address, int atoms_apart) {
  constexpr unsigned long long SWIZZLE_128 = 1ull << 62;
  constexpr unsigned long long STRIDE = 1024 / 16;
  const unsigned long long leading = K_MAJOR ? 1 : atoms_apart / 16;
  return SWIZZLE_128 | STRIDE << 32 | leading << 16 | (address & 0x3ffffu) >> 4;
}

/// What to add to a descriptor for an operand that begins so many bytes further.
__device__ constexpr unsigned long long descriptor_offset(int bytes) {
  return static_cast<unsigned long long>(bytes / 16);
}

/// A thread's part of a product of 64 rows and COLUMNS columns. Element 4 * j + 2 * h + i is in row
/// 16 * warp + lane / 4 + 8 * h and column 8 * j + 2 * (lane % 4) + i.
/// S: int for operands of signed char, else float.
template <int COLUMNS, class S = float>
struct Accumulators {
  static constexpr int COUNT = COLUMNS / 2;
  S at[COUNT];
};

#ifdef TUNER_CPU_BACKEND
/// The element in this row (or column) and step of K of the operand that a descriptor describes.
template <class T, bool K_MAJOR>
Sum<T> described_element(unsigned long long descriptor, int row, int k) {
  constexpr unsigned WIDTH = 128 / sizeof(T);
  const auto field = [&](int begin) {
    return static_cast<unsigned>(descriptor >> begin & 0x3fffu) * 16;
  };
  if (descriptor >> 49 != 1u << 13) __trap();  // 128-byte swizzle, base offset 0
  const unsigned across = static_cast<unsigned>(K_MAJOR ? row : k);
  const unsigned along = static_cast<unsigned>(K_MAJOR ? k : row);
  const unsigned address = field(0) + across / 8 * field(32) + across % 8 * 128 +
                           along / WIDTH * field(16) + along % WIDTH * sizeof(T);
  return static_cast<Sum<T> >(*at_shared_address<const T>(swizzled_128(address)));
}

/// sum += the products of rows and columns, as a tensor core adds them: at once. Those of e4m3 are
/// cut to 13 bits after the leading one of the largest (measured on Hopper: DeepSeek-V3, technical
/// report, 3.3.2).
template <class T, int DEPTH, class S>
S added_up(S sum, const S (&row)[DEPTH], const S (&column)[DEPTH]) {
  if constexpr (OperandTypeOf<T>::value == OperandType::e4m3) {
    constexpr int KEPT_BITS = 13;
    float largest = fabsf(sum);
    for (int k = 0; k < DEPTH; ++k) {
      const float product = fabsf(row[k] * column[k]);
      largest = product > largest ? product : largest;
    }
    if (largest == 0.0f || !(largest - largest == 0.0f)) {
      for (int k = 0; k < DEPTH; ++k) sum += row[k] * column[k];
      return sum;
    }
    const float unit = ldexpf(1.0f, ilogbf(largest) - KEPT_BITS);
    float units = truncf(sum / unit);
    for (int k = 0; k < DEPTH; ++k) units += truncf(row[k] * column[k] / unit);
    return units * unit;
  } else {
    S products = 0;
    for (int k = 0; k < DEPTH; ++k) products += row[k] * column[k];
    return sum + products;
  }
}

/// A product that a host thread has begun.
struct HostProduct {
  void* sum;
  unsigned long long rows, columns;
  bool accumulate;
  int group;
  void (*compute)(const HostProduct&);
};

template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR, int COLUMNS>
void compute_on_host(const HostProduct& product) {
  constexpr int DEPTH = PRODUCT_DEPTH<T>;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  auto* const sums = static_cast<Sum<T>*>(product.sum);
  Sum<T> rows[2][DEPTH];
  for (int h = 0; h < 2; ++h) {
    for (int k = 0; k < DEPTH; ++k) {
      rows[h][k] =
          described_element<T, ROWS_K_MAJOR>(product.rows, 16 * warp + lane / 4 + 8 * h, k);
    }
  }
  for (int j = 0; j < COLUMNS / 8; ++j) {
    for (int i = 0; i < 2; ++i) {
      Sum<T> column[DEPTH];
      for (int k = 0; k < DEPTH; ++k) {
        column[k] =
            described_element<T, COLUMNS_K_MAJOR>(product.columns, 8 * j + 2 * (lane % 4) + i, k);
      }
      for (int h = 0; h < 2; ++h) {
        Sum<T>& at = sums[4 * j + 2 * h + i];
        at = added_up<T>(product.accumulate ? at : Sum<T>(0), rows[h], column);
      }
    }
  }
}
#endif

// The registers of a product of so many columns, in the text of an instruction and as operands.
#define SUMS_8 "%0, %1, %2, %3"
#define SUMS_16 SUMS_8 ", %4, %5, %6, %7"
#define SUMS_24 SUMS_16 ", %8, %9, %10, %11"
#define SUMS_32 SUMS_24 ", %12, %13, %14, %15"
#define SUMS_40 SUMS_32 ", %16, %17, %18, %19"
#define SUMS_48 SUMS_40 ", %20, %21, %22, %23"
#define SUMS_56 SUMS_48 ", %24, %25, %26, %27"
#define SUMS_64 SUMS_56 ", %28, %29, %30, %31"
#define SUMS_72 SUMS_64 ", %32, %33, %34, %35"
#define SUMS_80 SUMS_72 ", %36, %37, %38, %39"
#define SUMS_88 SUMS_80 ", %40, %41, %42, %43"
#define SUMS_96 SUMS_88 ", %44, %45, %46, %47"
#define SUMS_104 SUMS_96 ", %48, %49, %50, %51"
#define SUMS_112 SUMS_104 ", %52, %53, %54, %55"
#define SUMS_120 SUMS_112 ", %56, %57, %58, %59"
#define SUMS_128 SUMS_120 ", %60, %61, %62, %63"
#define SUMS_136 SUMS_128 ", %64, %65, %66, %67"
#define SUMS_144 SUMS_136 ", %68, %69, %70, %71"
#define SUMS_152 SUMS_144 ", %72, %73, %74, %75"
#define SUMS_160 SUMS_152 ", %76, %77, %78, %79"
#define SUMS_168 SUMS_160 ", %80, %81, %82, %83"
#define SUMS_176 SUMS_168 ", %84, %85, %86, %87"
#define SUMS_184 SUMS_176 ", %88, %89, %90, %91"
#define SUMS_192 SUMS_184 ", %92, %93, %94, %95"
#define SUMS_200 SUMS_192 ", %96, %97, %98, %99"
#define SUMS_208 SUMS_200 ", %100, %101, %102, %103"
#define SUMS_216 SUMS_208 ", %104, %105, %106, %107"
#define SUMS_224 SUMS_216 ", %108, %109, %110, %111"
#define SUMS_232 SUMS_224 ", %112, %113, %114, %115"
#define SUMS_240 SUMS_232 ", %116, %117, %118, %119"
#define SUMS_248 SUMS_240 ", %120, %121, %122, %123"
#define SUMS_256 SUMS_248 ", %124, %125, %126, %127"
#define FOUR_SUMS(C, i) C(sum.at[i]), C(sum.at[i + 1]), C(sum.at[i + 2]), C(sum.at[i + 3])
#define OPERANDS_8(C) FOUR_SUMS(C, 0)
#define OPERANDS_16(C) OPERANDS_8(C), FOUR_SUMS(C, 4)
#define OPERANDS_24(C) OPERANDS_16(C), FOUR_SUMS(C, 8)
#define OPERANDS_32(C) OPERANDS_24(C), FOUR_SUMS(C, 12)
#define OPERANDS_40(C) OPERANDS_32(C), FOUR_SUMS(C, 16)
#define OPERANDS_48(C) OPERANDS_40(C), FOUR_SUMS(C, 20)
#define OPERANDS_56(C) OPERANDS_48(C), FOUR_SUMS(C, 24)
#define OPERANDS_64(C) OPERANDS_56(C), FOUR_SUMS(C, 28)
#define OPERANDS_72(C) OPERANDS_64(C), FOUR_SUMS(C, 32)
#define OPERANDS_80(C) OPERANDS_72(C), FOUR_SUMS(C, 36)
#define OPERANDS_88(C) OPERANDS_80(C), FOUR_SUMS(C, 40)
#define OPERANDS_96(C) OPERANDS_88(C), FOUR_SUMS(C, 44)
#define OPERANDS_104(C) OPERANDS_96(C), FOUR_SUMS(C, 48)
#define OPERANDS_112(C) OPERANDS_104(C), FOUR_SUMS(C, 52)
#define OPERANDS_120(C) OPERANDS_112(C), FOUR_SUMS(C, 56)
#define OPERANDS_128(C) OPERANDS_120(C), FOUR_SUMS(C, 60)
#define OPERANDS_136(C) OPERANDS_128(C), FOUR_SUMS(C, 64)
#define OPERANDS_144(C) OPERANDS_136(C), FOUR_SUMS(C, 68)
#define OPERANDS_152(C) OPERANDS_144(C), FOUR_SUMS(C, 72)
#define OPERANDS_160(C) OPERANDS_152(C), FOUR_SUMS(C, 76)
#define OPERANDS_168(C) OPERANDS_160(C), FOUR_SUMS(C, 80)
#define OPERANDS_176(C) OPERANDS_168(C), FOUR_SUMS(C, 84)
#define OPERANDS_184(C) OPERANDS_176(C), FOUR_SUMS(C, 88)
#define OPERANDS_192(C) OPERANDS_184(C), FOUR_SUMS(C, 92)
#define OPERANDS_200(C) OPERANDS_192(C), FOUR_SUMS(C, 96)
#define OPERANDS_208(C) OPERANDS_200(C), FOUR_SUMS(C, 100)
#define OPERANDS_216(C) OPERANDS_208(C), FOUR_SUMS(C, 104)
#define OPERANDS_224(C) OPERANDS_216(C), FOUR_SUMS(C, 108)
#define OPERANDS_232(C) OPERANDS_224(C), FOUR_SUMS(C, 112)
#define OPERANDS_240(C) OPERANDS_232(C), FOUR_SUMS(C, 116)
#define OPERANDS_248(C) OPERANDS_240(C), FOUR_SUMS(C, 120)
#define OPERANDS_256(C) OPERANDS_248(C), FOUR_SUMS(C, 124)

// KIND: depth and types in the instruction. C: the constraint of a sum. A, B, P: the numbers of the
// operands after the sums. TAIL: what the instruction takes last.
#define BEGIN_PRODUCT(KIND, C, N, A, B, P, TAIL)                                               \
  asm volatile(                                                                                \
      "{\n"                                                                                    \
      ".reg .pred accumulate;\n"                                                               \
      "setp.ne.b32 accumulate, %" #P                                                           \
      ", 0;\n"                                                                                 \
      "wgmma.mma_async.sync.aligned.m64n" #N KIND " {" SUMS_##N "}, %" #A ", %" #B             \
                                                                ", accumulate" TAIL            \
                                                                ";\n"                          \
                                                                "}"                            \
      : OPERANDS_##N(C)                                                                        \
      : "l"(rows), "l"(columns), "r"(static_cast<int>(accumulate)), "n"(ROWS_K_MAJOR ? 0 : 1), \
        "n"(COLUMNS_K_MAJOR ? 0 : 1))
#define PRODUCT_OF_COLUMNS(N, A, B, P, TA, TB)                                       \
  if constexpr (COLUMNS == N && TYPE == OperandType::bf16) {                         \
    BEGIN_PRODUCT("k16.f32.bf16.bf16", "+f", N, A, B, P, ", 1, 1, %" #TA ", %" #TB); \
  } else if constexpr (COLUMNS == N && TYPE == OperandType::f16) {                   \
    BEGIN_PRODUCT("k16.f32.f16.f16", "+f", N, A, B, P, ", 1, 1, %" #TA ", %" #TB);   \
  } else if constexpr (COLUMNS == N && TYPE == OperandType::tf32) {                  \
    BEGIN_PRODUCT("k8.f32.tf32.tf32", "+f", N, A, B, P, ", 1, 1");                   \
  } else if constexpr (COLUMNS == N && TYPE == OperandType::e4m3) {                  \
    BEGIN_PRODUCT("k32.f32.e4m3.e4m3", "+f", N, A, B, P, ", 1, 1");                  \
  } else if constexpr (COLUMNS == N) {                                               \
    BEGIN_PRODUCT("k32.s32.s8.s8", "+r", N, A, B, P, "");                            \
  }

/// The products that a warpgroup has begun; the warps of a warpgroup call every function together.
/// Between begin() and the await() that covers a product its operands in shared memory and its
/// accumulators must not change.
class WarpgroupProducts {
 public:
  /// Called before the first product whose accumulators or operands this thread has written.
  __device__ __forceinline__ void begin() {
#ifndef TUNER_CPU_BACKEND
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }

  /// Begins sum = rows * columns, or sum += rows * columns. COLUMNS: a multiple of 8 up to
  /// 256, of int8 of 16 where more than 32. Only operands of 16 bits may be contiguous along the
  /// extent.
  template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR, int COLUMNS>
  __device__ __forceinline__ void multiply(Accumulators<COLUMNS, Sum<T> >& sum,
                                           unsigned long long rows, unsigned long long columns,
                                           bool accumulate) {
    constexpr OperandType TYPE = OperandTypeOf<T>::value;
    static_assert(COLUMNS % 8 == 0 && 8 <= COLUMNS && COLUMNS <= 256);
    static_assert(TYPE != OperandType::s8 || COLUMNS <= 32 || COLUMNS % 16 == 0);
    static_assert(sizeof(T) == 2 || (ROWS_K_MAJOR && COLUMNS_K_MAJOR));
#ifndef TUNER_CPU_BACKEND
    PRODUCT_OF_COLUMNS(8, 4, 5, 6, 7, 8)
    PRODUCT_OF_COLUMNS(16, 8, 9, 10, 11, 12)
    PRODUCT_OF_COLUMNS(24, 12, 13, 14, 15, 16)
    PRODUCT_OF_COLUMNS(32, 16, 17, 18, 19, 20)
    PRODUCT_OF_COLUMNS(40, 20, 21, 22, 23, 24)
    PRODUCT_OF_COLUMNS(48, 24, 25, 26, 27, 28)
    PRODUCT_OF_COLUMNS(56, 28, 29, 30, 31, 32)
    PRODUCT_OF_COLUMNS(64, 32, 33, 34, 35, 36)
    PRODUCT_OF_COLUMNS(72, 36, 37, 38, 39, 40)
    PRODUCT_OF_COLUMNS(80, 40, 41, 42, 43, 44)
    PRODUCT_OF_COLUMNS(88, 44, 45, 46, 47, 48)
    PRODUCT_OF_COLUMNS(96, 48, 49, 50, 51, 52)
    PRODUCT_OF_COLUMNS(104, 52, 53, 54, 55, 56)
    PRODUCT_OF_COLUMNS(112, 56, 57, 58, 59, 60)
    PRODUCT_OF_COLUMNS(120, 60, 61, 62, 63, 64)
    PRODUCT_OF_COLUMNS(128, 64, 65, 66, 67, 68)
    PRODUCT_OF_COLUMNS(136, 68, 69, 70, 71, 72)
    PRODUCT_OF_COLUMNS(144, 72, 73, 74, 75, 76)
    PRODUCT_OF_COLUMNS(152, 76, 77, 78, 79, 80)
    PRODUCT_OF_COLUMNS(160, 80, 81, 82, 83, 84)
    PRODUCT_OF_COLUMNS(168, 84, 85, 86, 87, 88)
    PRODUCT_OF_COLUMNS(176, 88, 89, 90, 91, 92)
    PRODUCT_OF_COLUMNS(184, 92, 93, 94, 95, 96)
    PRODUCT_OF_COLUMNS(192, 96, 97, 98, 99, 100)
    PRODUCT_OF_COLUMNS(200, 100, 101, 102, 103, 104)
    PRODUCT_OF_COLUMNS(208, 104, 105, 106, 107, 108)
    PRODUCT_OF_COLUMNS(216, 108, 109, 110, 111, 112)
    PRODUCT_OF_COLUMNS(224, 112, 113, 114, 115, 116)
    PRODUCT_OF_COLUMNS(232, 116, 117, 118, 119, 120)
    PRODUCT_OF_COLUMNS(240, 120, 121, 122, 123, 124)
    PRODUCT_OF_COLUMNS(248, 124, 125, 126, 127, 128)
    PRODUCT_OF_COLUMNS(256, 128, 129, 130, 131, 132)
#else
    if (count_ == MOST) __trap();
    begun_[count_++] = {sum.at,  rows,
                        columns, accumulate,
                        group_,  compute_on_host<T, ROWS_K_MAJOR, COLUMNS_K_MAJOR, COLUMNS>};
#endif
  }

  /// Makes a group of the products begun since the last one.
  __device__ __forceinline__ void commit() {
#ifndef TUNER_CPU_BACKEND
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#else
    ++group_;
#endif
  }

  /// Waits until at most PENDING groups are not complete. The host computes products only here: as
  /// late as a GPU may read their operands.
  template <int PENDING>
  __device__ __forceinline__ void await() {
#ifndef TUNER_CPU_BACKEND
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
#else
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      if (begun_[i].group < group_ - PENDING) {
        begun_[i].compute(begun_[i]);
      } else {
        begun_[kept++] = begun_[i];
      }
    }
    count_ = kept;
#endif
  }

#ifdef TUNER_CPU_BACKEND
 private:
  static constexpr int MOST = 160;
  HostProduct begun_[MOST];
  int count_ = 0;
  int group_ = 0;  // committed ones
#endif
};

/// Tells the compiler that accumulators change here, so that it moves no access to them across.
template <int COLUMNS>
__device__ __forceinline__ void pin(Accumulators<COLUMNS>& sum) {
#ifndef TUNER_CPU_BACKEND
#pragma unroll
  for (int i = 0; i < Accumulators<COLUMNS>::COUNT; ++i)
    asm volatile("" : "+f"(sum.at[i])::"memory");
#endif
}
template <int COLUMNS>
__device__ __forceinline__ void pin(Accumulators<COLUMNS, int>& sum) {
#ifndef TUNER_CPU_BACKEND
#pragma unroll
  for (int i = 0; i < Accumulators<COLUMNS, int>::COUNT; ++i)
    asm volatile("" : "+r"(sum.at[i])::"memory");
#endif
}

#undef PRODUCT_OF_COLUMNS
#undef BEGIN_PRODUCT
