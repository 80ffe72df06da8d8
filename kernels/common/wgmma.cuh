// SPDX-License-Identifier: Apache-2.0
// Products of matrices in shared memory by the tensor cores of a warpgroup (wgmma), with a version
// for the host. Compute capability 9.0, architecture sm_90a.
#pragma once

#include "common/shared_memory.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

/// Describes an operand in shared memory: rows (of the second operand: columns) by 16 steps of K of
/// 16-bit elements, in the 128-byte swizzle. `address`: of its first element. Atoms of the swizzle,
/// 1024 bytes, are aligned to 1024 bytes.
///
/// K_MAJOR: steps of K are contiguous. An atom has 8 rows of 64 steps; atoms follow one another.
/// Else rows are contiguous: an atom has 8 steps of 64 rows; atoms follow one another along K, and
/// the atoms of the next 64 rows are `atoms_apart` bytes further.
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
template <int COLUMNS>
struct Accumulators {
  static constexpr int COUNT = COLUMNS / 2;
  float at[COUNT];
};

#ifdef TUNER_CPU_BACKEND
/// The element in this row (or column) and step of K of the operand that a descriptor describes.
template <class T, bool K_MAJOR>
float described_element(unsigned long long descriptor, int row, int k) {
  const auto field = [&](int begin) {
    return static_cast<unsigned>(descriptor >> begin & 0x3fffu) * 16;
  };
  if (descriptor >> 49 != 1u << 13) __trap();  // 128-byte swizzle, base offset 0
  const unsigned across = static_cast<unsigned>(K_MAJOR ? row : k);
  const unsigned along = static_cast<unsigned>(K_MAJOR ? k : row);
  const unsigned address = field(0) + across / 8 * field(32) + across % 8 * 128 +
                           along / 64 * field(16) + along % 64 * 2;
  return static_cast<float>(*at_shared_address<const T>(swizzled_128(address)));
}

/// A product that a host thread has begun.
struct HostProduct {
  float* sum;
  unsigned long long rows, columns;
  bool accumulate;
  int group;
  void (*compute)(const HostProduct&);
};

template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR, int COLUMNS>
void compute_on_host(const HostProduct& product) {
  constexpr int DEPTH = 16;
  const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float rows[2][DEPTH];
  for (int h = 0; h < 2; ++h) {
    for (int k = 0; k < DEPTH; ++k) {
      rows[h][k] =
          described_element<T, ROWS_K_MAJOR>(product.rows, 16 * warp + lane / 4 + 8 * h, k);
    }
  }
  for (int j = 0; j < COLUMNS / 8; ++j) {
    for (int i = 0; i < 2; ++i) {
      float sum[2] = {0.0f, 0.0f};
      for (int k = 0; k < DEPTH; ++k) {
        const float column =
            described_element<T, COLUMNS_K_MAJOR>(product.columns, 8 * j + 2 * (lane % 4) + i, k);
        for (int h = 0; h < 2; ++h) sum[h] += rows[h][k] * column;
      }
      for (int h = 0; h < 2; ++h) {
        float& at = product.sum[4 * j + 2 * h + i];
        at = product.accumulate ? at + sum[h] : sum[h];
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
#define FOUR_SUMS(i) "+f"(sum.at[i]), "+f"(sum.at[i + 1]), "+f"(sum.at[i + 2]), "+f"(sum.at[i + 3])
#define OPERANDS_8 FOUR_SUMS(0)
#define OPERANDS_16 OPERANDS_8, FOUR_SUMS(4)
#define OPERANDS_24 OPERANDS_16, FOUR_SUMS(8)
#define OPERANDS_32 OPERANDS_24, FOUR_SUMS(12)
#define OPERANDS_40 OPERANDS_32, FOUR_SUMS(16)
#define OPERANDS_48 OPERANDS_40, FOUR_SUMS(20)
#define OPERANDS_56 OPERANDS_48, FOUR_SUMS(24)
#define OPERANDS_64 OPERANDS_56, FOUR_SUMS(28)
#define OPERANDS_72 OPERANDS_64, FOUR_SUMS(32)
#define OPERANDS_80 OPERANDS_72, FOUR_SUMS(36)
#define OPERANDS_88 OPERANDS_80, FOUR_SUMS(40)
#define OPERANDS_96 OPERANDS_88, FOUR_SUMS(44)
#define OPERANDS_104 OPERANDS_96, FOUR_SUMS(48)
#define OPERANDS_112 OPERANDS_104, FOUR_SUMS(52)
#define OPERANDS_120 OPERANDS_112, FOUR_SUMS(56)
#define OPERANDS_128 OPERANDS_120, FOUR_SUMS(60)
#define OPERANDS_136 OPERANDS_128, FOUR_SUMS(64)
#define OPERANDS_144 OPERANDS_136, FOUR_SUMS(68)
#define OPERANDS_152 OPERANDS_144, FOUR_SUMS(72)
#define OPERANDS_160 OPERANDS_152, FOUR_SUMS(76)
#define OPERANDS_168 OPERANDS_160, FOUR_SUMS(80)
#define OPERANDS_176 OPERANDS_168, FOUR_SUMS(84)
#define OPERANDS_184 OPERANDS_176, FOUR_SUMS(88)
#define OPERANDS_192 OPERANDS_184, FOUR_SUMS(92)
#define OPERANDS_200 OPERANDS_192, FOUR_SUMS(96)
#define OPERANDS_208 OPERANDS_200, FOUR_SUMS(100)
#define OPERANDS_216 OPERANDS_208, FOUR_SUMS(104)
#define OPERANDS_224 OPERANDS_216, FOUR_SUMS(108)
#define OPERANDS_232 OPERANDS_224, FOUR_SUMS(112)
#define OPERANDS_240 OPERANDS_232, FOUR_SUMS(116)
#define OPERANDS_248 OPERANDS_240, FOUR_SUMS(120)
#define OPERANDS_256 OPERANDS_248, FOUR_SUMS(124)

// A, B, P, TA, TB: the numbers of the operands after them.
#define BEGIN_PRODUCT(TYPE, N, A, B, P, TA, TB)                                                \
  asm volatile(                                                                                \
      "{\n"                                                                                    \
      ".reg .pred accumulate;\n"                                                               \
      "setp.ne.b32 accumulate, %" #P                                                           \
      ", 0;\n"                                                                                 \
      "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE " {" SUMS_##N            \
      "}, %" #A ", %" #B ", accumulate, 1, 1, %" #TA ", %" #TB                                 \
      ";\n"                                                                                    \
      "}"                                                                                      \
      : OPERANDS_##N                                                                           \
      : "l"(rows), "l"(columns), "r"(static_cast<int>(accumulate)), "n"(ROWS_K_MAJOR ? 0 : 1), \
        "n"(COLUMNS_K_MAJOR ? 0 : 1))
#define PRODUCT_OF_COLUMNS(N, A, B, P, TA, TB) \
  if constexpr (COLUMNS == N && IS_BF16) {     \
    BEGIN_PRODUCT("bf16", N, A, B, P, TA, TB); \
  } else if constexpr (COLUMNS == N) {         \
    BEGIN_PRODUCT("f16", N, A, B, P, TA, TB);  \
  }

template <class T>
struct IsBf16 {
  static constexpr bool value = false;
};
template <>
struct IsBf16<__nv_bfloat16> {
  static constexpr bool value = true;
};

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

  /// Begins sum = rows * columns, or sum += rows * columns. T: __nv_bfloat16 or __half. COLUMNS: a
  /// multiple of 8 to 64, of 16 to 256.
  template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR, int COLUMNS>
  __device__ __forceinline__ void multiply(Accumulators<COLUMNS>& sum, unsigned long long rows,
                                           unsigned long long columns, bool accumulate) {
    static_assert(COLUMNS % (COLUMNS > 64 ? 16 : 8) == 0 && 8 <= COLUMNS && COLUMNS <= 256);
#ifndef TUNER_CPU_BACKEND
    constexpr bool IS_BF16 = IsBf16<T>::value;
    PRODUCT_OF_COLUMNS(8, 4, 5, 6, 7, 8)
    PRODUCT_OF_COLUMNS(16, 8, 9, 10, 11, 12)
    PRODUCT_OF_COLUMNS(24, 12, 13, 14, 15, 16)
    PRODUCT_OF_COLUMNS(32, 16, 17, 18, 19, 20)
    PRODUCT_OF_COLUMNS(40, 20, 21, 22, 23, 24)
    PRODUCT_OF_COLUMNS(48, 24, 25, 26, 27, 28)
    PRODUCT_OF_COLUMNS(56, 28, 29, 30, 31, 32)
    PRODUCT_OF_COLUMNS(64, 32, 33, 34, 35, 36)
    PRODUCT_OF_COLUMNS(80, 40, 41, 42, 43, 44)
    PRODUCT_OF_COLUMNS(96, 48, 49, 50, 51, 52)
    PRODUCT_OF_COLUMNS(112, 56, 57, 58, 59, 60)
    PRODUCT_OF_COLUMNS(128, 64, 65, 66, 67, 68)
    PRODUCT_OF_COLUMNS(144, 72, 73, 74, 75, 76)
    PRODUCT_OF_COLUMNS(160, 80, 81, 82, 83, 84)
    PRODUCT_OF_COLUMNS(176, 88, 89, 90, 91, 92)
    PRODUCT_OF_COLUMNS(192, 96, 97, 98, 99, 100)
    PRODUCT_OF_COLUMNS(208, 104, 105, 106, 107, 108)
    PRODUCT_OF_COLUMNS(224, 112, 113, 114, 115, 116)
    PRODUCT_OF_COLUMNS(240, 120, 121, 122, 123, 124)
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

#undef PRODUCT_OF_COLUMNS
#undef BEGIN_PRODUCT
