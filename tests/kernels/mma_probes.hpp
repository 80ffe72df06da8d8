// SPDX-License-Identifier: Apache-2.0
// Kernels that show what ldmatrix and mma do with the registers of a warp, run on a backend.
#pragma once

#include "kernel_probes.hpp"

#include <bit>

namespace tuner {

inline constexpr std::string_view kMmaProbes = R"(
#include "common/ldmatrix.cuh"
#include "common/mma_types.cuh"

/// Numbers of 16 bits in shared memory; a lane gives the address of the rows in reverse.
template <bool TRANSPOSED>
__global__ void probe_matrices(unsigned* out) {
  auto* const shared = reinterpret_cast<unsigned short*>(dynamic_shared());
  for (int i = threadIdx.x; i < 256; i += blockDim.x) shared[i] = static_cast<unsigned short>(i);
  __syncthreads();
  if (threadIdx.x >= 32) return;
  unsigned words[4];
  load_matrices<TRANSPOSED>(words, shared_address(shared) + 16 * (31 - threadIdx.x));
  for (int i = 0; i < 4; ++i) out[4 * threadIdx.x + i] = words[i];
}

/// rows: 16 of 8 words; columns: 8 of 8 words.
template <class T>
__global__ void probe_multiply(const unsigned* rows, const unsigned* columns, Sum<T>* out) {
  if (threadIdx.x >= 32) return;
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  unsigned of_rows[4], of_columns[2];
  for (int i = 0; i < 4; ++i) of_rows[i] = rows[(g + i % 2 * 8) * 8 + t + i / 2 * 4];
  for (int i = 0; i < 2; ++i) of_columns[i] = columns[g * 8 + t + i * 4];
  Sum<T> sum[4] = {1, 1, 1, 1};
  multiply_any_16x8<T>(sum, of_rows, of_columns);
  for (int i = 0; i < 4; ++i) out[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sum[i];
}
)";

class MmaProbes : KernelProbes {
 public:
  explicit MmaProbes(backend::Backend& backend)
      : KernelProbes(
            backend, kMmaProbes,
            {"element", "ldmatrix", "mma", "mma_types", "operand_type", "shared_memory", "wgmma"}) {
  }

  void expect_matrices() {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(transposed);
      const backend::Buffer out = buffer(std::size_t{128} * 4);
      run(fmt::format("probe_matrices<{}>", transposed), 512, {out.id()});
      const auto found = download<std::uint32_t>(out);
      for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t matrix = 0; matrix < 4; ++matrix) {
          const auto element = [&](std::size_t row, std::size_t column) {
            return static_cast<std::uint32_t>((31 - (8 * matrix + row)) * 8 + column);
          };
          const std::size_t g = lane / 4, t = lane % 4;
          const std::uint32_t low = transposed ? element(2 * t, g) : element(g, 2 * t);
          const std::uint32_t high = transposed ? element(2 * t + 1, g) : element(g, 2 * t + 1);
          ASSERT_EQ(found[4 * lane + matrix], low | high << 16) << lane << " " << matrix;
        }
      }
    }
  }

  /// 1 + products of whole numbers; the lower bits of tf32, which is not whole, are not read.
  void expect_multiplies_tf32() {
    const auto number = [](int row, int step, int odd) { return (row * odd + step * 5) % 17 - 8; };
    const auto operand = [&](int rows, int odd) {
      std::vector<std::uint32_t> words;
      for (int i = 0; i < rows * 8; ++i) {
        const auto bits =
            std::bit_cast<std::uint32_t>(static_cast<float>(number(i / 8, i % 8, odd)));
        words.push_back(bits | 0x1fffU);
      }
      return words;
    };
    const backend::Buffer rows = upload(operand(16, 3)), columns = upload(operand(8, 7));
    const backend::Buffer out = buffer(std::size_t{128} * 4);
    run("probe_multiply<float>", 0, {rows.id(), columns.id(), out.id()});
    const auto found = download<float>(out);
    for (int i = 0; i < 128; ++i) {
      int sum = 1;
      for (int step = 0; step < 8; ++step) sum += number(i / 8, step, 3) * number(i % 8, step, 7);
      ASSERT_EQ(found[static_cast<std::size_t>(i)], static_cast<float>(sum)) << i;
    }
  }
};

}  // namespace tuner
