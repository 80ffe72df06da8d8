// SPDX-License-Identifier: Apache-2.0
// Kernels that show what the wrappers of kernels/common for tensor cores do, run on a backend.
#pragma once

#include "kernel_probes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace tuner {

inline constexpr std::string_view kTensorCoreProbes = R"(
#include "common/async_barrier.cuh"
#include "common/tensor_copy.cuh"
#include "common/warpgroup.cuh"
#include "common/wgmma.cuh"

/// Loads one box, and stores shared memory as it is.
__global__ void probe_copy(int x, int y, int z, int words, unsigned* out,
                           const __grid_constant__ TensorMap3 map) {
  const unsigned to = shared_address(dynamic_shared());
  const unsigned full = to + 4 * words;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    publish_barriers();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    arrive_expecting(full, 4 * words);
    copy_box<false>(to, map, x, y, z, full);
  }
  await_phase(full, 0);
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    out[i] = reinterpret_cast<const unsigned*>(dynamic_shared())[i];
  }
}

__global__ void probe_descriptors(unsigned long long* out) {
  out[0] = matrix_descriptor<true>(0x12340, 0);
  out[1] = matrix_descriptor<false>(0x12400, 0x2000);
  out[2] = matrix_descriptor<true>(0, 0) + descriptor_offset(32);
}

/// One product of 64 rows and COLUMNS columns over 16 steps from step `k` of 64; operands that are
/// not K-major have panels of 64 rows.
template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR, int COLUMNS, bool TWICE>
__global__ void probe_product(int k, const T* rows, const T* columns, float* out) {
  T* const shared = reinterpret_cast<T*>(dynamic_shared());
  // By the layout of the CUDA documentation: piece p of row r of 128 bytes lies at p xor r % 8.
  const auto place = [](bool k_major, int row, int step) {
    const int across = k_major ? row : step, along = k_major ? step : row % 64;
    const int panel = k_major ? 0 : row / 64;
    return panel * 4096 + across * 64 + ((along / 8) ^ (across % 8)) * 8 + along % 8;
  };
  constexpr int FIRST_COLUMN = 4096;
  for (int i = threadIdx.x; i < 64 * 64; i += WARPGROUP) {
    shared[place(ROWS_K_MAJOR, i / 64, i % 64)] = rows[i];
  }
  for (int i = threadIdx.x; i < COLUMNS * 64; i += WARPGROUP) {
    shared[FIRST_COLUMN + place(COLUMNS_K_MAJOR, i / 64, i % 64)] = columns[i];
  }
#ifdef __CUDA_ARCH__
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  __syncthreads();
  const unsigned from = shared_address(shared);
  const auto row_operand =
      matrix_descriptor<ROWS_K_MAJOR>(from + k * (ROWS_K_MAJOR ? 2 : 128), 8192);
  const auto column_operand = matrix_descriptor<COLUMNS_K_MAJOR>(
      from + 2 * FIRST_COLUMN + k * (COLUMNS_K_MAJOR ? 2 : 128), 8192);
  Accumulators<COLUMNS> sum;
  pin(sum);
  WarpgroupProducts products;
  products.begin();
  products.multiply<T, ROWS_K_MAJOR, COLUMNS_K_MAJOR>(sum, row_operand, column_operand, false);
  if constexpr (TWICE) {
    products.multiply<T, ROWS_K_MAJOR, COLUMNS_K_MAJOR>(sum, row_operand, column_operand, true);
  }
  products.commit();
  products.await<0>();
  pin(sum);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int j = 0; j < COLUMNS / 8; ++j) {
    for (int h = 0; h < 2; ++h) {
      for (int i = 0; i < 2; ++i) {
        const int row = 16 * warp + lane / 4 + 8 * h, column = 8 * j + 2 * (lane % 4) + i;
        out[row * COLUMNS + column] = sum.at[4 * j + 2 * h + i];
      }
    }
  }
}
)";

class TensorCoreProbes : KernelProbes {
 public:
  explicit TensorCoreProbes(backend::Backend& backend)
      : KernelProbes(backend, kTensorCoreProbes,
                     {"async_barrier", "element", "operand_type", "shared_memory", "tensor_copy",
                      "warpgroup", "wgmma"}) {}

  /// Of the 64 x `rows` elements of 16 bits at (x, y, z) of a tensor of 70 x 11 x 2, whose elements
  /// are numbered from 1: in shared memory every element is where the documentation puts it, and
  /// zero outside of the tensor.
  void expect_copy(int x, int y, int z, unsigned rows) {
    SCOPED_TRACE(fmt::format("{} rows at {}, {}, {}", rows, x, y, z));
    constexpr int kColumns = 70, kRows = 11, kPitch = 72;
    std::vector<std::uint16_t> numbers(std::size_t{2} * kRows * kPitch);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i + 1);
    const backend::Buffer tensor = upload(numbers);
    const std::uint32_t words = rows * 32;
    const backend::Buffer out = buffer(words * 4);
    const family::TensorLayout layout{.type = family::ElementType::u16,
                                      .extents = {kColumns, kRows, 2},
                                      .strides = {kPitch, kPitch * kRows},
                                      .box = {64, rows, 1},
                                      .swizzle_bytes = 128};
    run("probe_copy", words * 4 + 8,
        {x, y, z, static_cast<std::int32_t>(words), out.id(),
         backend::Tensor{tensor.id(), layout}});
    const auto found = download<std::uint16_t>(out);
    for (int row = 0; row < static_cast<int>(rows); ++row) {
      for (int i = 0; i < 64; ++i) {
        const bool is_inside = x + i >= 0 && x + i < kColumns && y + row >= 0 && y + row < kRows;
        const int number = is_inside ? ((z * kRows + y + row) * kPitch + x + i) + 1 : 0;
        const int at = row * 64 + (i / 8 ^ row % 8) * 8 + i % 8;
        ASSERT_EQ(found[static_cast<std::size_t>(at)], number) << "row " << row << " element " << i;
      }
    }
  }

  /// Bits as the PTX documentation has them.
  void expect_descriptors() {
    const backend::Buffer out = buffer(3 * 8);
    run("probe_descriptors", 0, {out.id()});
    EXPECT_THAT(
        download<std::uint64_t>(out),
        testing::ElementsAre(0x4000004000011234U, 0x4000004002001240U, 0x4000004000010002U));
  }

  /// Whole numbers: sums are exact.
  void expect_product(const std::string& type, bool rows_k_major, bool columns_k_major, int columns,
                      int k, bool twice = false) {
    SCOPED_TRACE(fmt::format("{} {} {} {} k {}", type, rows_k_major, columns_k_major, columns, k));
    const auto number = [](int row, int step, int odd) { return (row * odd + step * 5) % 17 - 8; };
    const auto operand = [&](int extent, int odd) {
      std::vector<std::uint16_t> bits;
      for (int i = 0; i < extent * 64; ++i) bits.push_back(of(type, number(i / 64, i % 64, odd)));
      return bits;
    };
    const backend::Buffer a = upload(operand(64, 3)), b = upload(operand(columns, 7));
    const backend::Buffer out = buffer(static_cast<std::size_t>(64 * columns) * 4);
    run(fmt::format("probe_product<{},{},{},{},{}>", type, rows_k_major, columns_k_major, columns,
                    twice),
        8192 + static_cast<std::uint32_t>((columns + 63) / 64) * 8192,
        {std::int32_t{k}, a.id(), b.id(), out.id()});
    const auto found = download<float>(out);
    for (int row = 0; row < 64; ++row) {
      for (int column = 0; column < columns; ++column) {
        int sum = 0;
        for (int step = k; step < k + 16; ++step)
          sum += number(row, step, 3) * number(column, step, 7);
        ASSERT_EQ(found[static_cast<std::size_t>(row * columns + column)],
                  static_cast<float>(twice ? 2 * sum : sum))
            << "row " << row << " column " << column;
      }
    }
  }

  void expect_products() {
    for (const bool rows_k_major : {true, false}) {
      for (const bool columns_k_major : {true, false}) {
        expect_product("__nv_bfloat16", rows_k_major, columns_k_major, 128, 0);
        expect_product("__half", rows_k_major, columns_k_major, 64, 48, true);
      }
    }
    for (const int columns : {8, 24, 80, 256}) {
      expect_product("__nv_bfloat16", true, true, columns, 16);
    }
  }

 private:
  /// A whole number from -8 to 8.
  static std::uint16_t of(const std::string& type, int value) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type == "__nv_bfloat16") return static_cast<std::uint16_t>(bits >> 16);
    if (value == 0) return 0;
    const std::uint32_t exponent = (bits >> 23 & 0xffU) - 127 + 15;
    return static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | exponent << 10 |
                                      (bits >> 13 & 0x3ffU));
  }
};

}  // namespace tuner
