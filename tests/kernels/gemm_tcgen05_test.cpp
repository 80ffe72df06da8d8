// SPDX-License-Identifier: Apache-2.0
// The kernel for tensor memory on the host: right in every layout and type, and every mistake in
// its pipeline, its descriptors and its use of tensor memory is found.
#include "kernel_family.hpp"
#include "kernel_mistakes.hpp"
#include "kernel_probes.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {
namespace {

/// More k-tiles than stages, and more tiles than blocks.
const std::vector<MistakenCase>& cases_of_mistakes() {
  static const std::string common =
      "PERSISTENT == 1 and SWAP == 0 and TILE_K == 64 and STAGES == 2 and MIN_BLOCKS == 1 and ";
  static const std::vector<MistakenCase> cases = {
      {"200,56,264,TRANS_A=1", common + "TILE_M == 64 and TILE_N == 24 and BUFFERS == 1"},
      {"300,40,200,TRANS_B=1", common + "TILE_M == 256 and TILE_N == 16 and BUFFERS == 2"}};
  return cases;
}

class GemmTcgen05Test : public testing::Test {
 protected:
  void expect_right(std::string_view size, const std::string& condition) {
    family_.expect_right("gemm_tcgen05", size, "MIN_BLOCKS == 1 and " + condition);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "gemm_tensor"};
};

TEST_F(GemmTcgen05Test, IsRightWithoutMistakes) {
  for (const auto& [size, condition] : cases_of_mistakes()) expect_right(size, condition);
}

TEST_F(GemmTcgen05Test, TilesAreRightInEveryLayout) {
  expect_right("72,80,136", "TILE_M == 64 and TILE_N == 64 and STAGES == 2");
  expect_right("200,80,136,TRANS_A=1,TYPE=f16",
               "TILE_M == 128 and TILE_N == 48 and STAGES == 3 and BUFFERS == 2");
  expect_right("72,80,264,TRANS_B=1",
               "TILE_M == 64 and TILE_N == 24 and TILE_K == 128 and STAGES == 2");
  expect_right("136,72,136,TRANS_A=1,TRANS_B=1,BATCH=2",
               "TILE_M == 128 and TILE_N == 32 and STAGES == 2 and SWAP == 0");
}

TEST_F(GemmTcgen05Test, TilesAreRightInEveryType) {
  expect_right("72,80,72,TRANS_B=1,TYPE=tf32", "TILE_M == 64 and TILE_N == 32 and STAGES == 2");
  expect_right("72,80,272,TRANS_B=1,TYPE=e4m3_fast",
               "TILE_M == 64 and TILE_N == 80 and STAGES == 2");
  expect_right("72,80,272,TRANS_B=1,TYPE=s8", "TILE_M == 64 and TILE_N == 48 and STAGES == 3");
  expect_right("72,75,136,LDB=80,LDC=75,TYPE=bf16_f32",
               "TILE_M == 64 and TILE_N == 16 and VECTOR_C == 1 and STAGES == 2");
}

TEST_F(GemmTcgen05Test, TheTransposedProductAndEpiloguesAreRight) {
  expect_right("5,136,136,TRANS_B=1", "SWAP == 1 and TILE_M == 64 and TILE_N == 8 and STAGES == 3");
  expect_right("40,136,136,TRANS_A=1,LDC=138,BIAS=2,ACTIVATION=1,BATCH=2",
               "SWAP == 1 and TILE_M == 128 and TILE_N == 48 and STAGES == 2");
  expect_right("72,75,136,LDB=80,LDC=78,BIAS=1,ACTIVATION=2,RESIDUAL=1",
               "SWAP == 0 and TILE_M == 64 and TILE_N == 48 and VECTOR_C == 2 and STAGES == 2");
}

TEST_F(GemmTcgen05Test, WithoutAlphaNothingIsMultiplied) {
  KernelFamily(*backend_, "gemm_tensor", 0)
      .expect_right("gemm_tcgen05", "72,80,136",
                    "TILE_M == 64 and TILE_N == 64 and STAGES == 2 and MIN_BLOCKS == 1");
}

constexpr std::string_view kInstructions = R"(
#include "common/tcgen05.cuh"
#include <cuda_fp8.h>
__global__ void probe_instructions(unsigned* out) {
  if (threadIdx.x > 0) return;
  out[0] = instruction_descriptor<__nv_bfloat16, true, true>(128, 256);
  out[1] = instruction_descriptor<__nv_bfloat16, true, false>(128, 128);
  out[2] = instruction_descriptor<__half, false, true>(64, 8);
  out[3] = instruction_descriptor<float, true, true>(128, 64);
  out[4] = instruction_descriptor<__nv_fp8_e4m3, true, true>(128, 128);
  out[5] = instruction_descriptor<signed char, true, true>(128, 32);
  out[6] = allocated_columns(8);
  out[7] = allocated_columns(257);
}
)";

class InstructionProbes : KernelProbes {
 public:
  explicit InstructionProbes(backend::Backend& backend)
      : KernelProbes(
            backend, kInstructions,
            {"async_barrier", "element", "operand_type", "shared_memory", "tcgen05", "wgmma"}) {}

  std::vector<std::uint32_t> found() {
    const backend::Buffer out = buffer(8 * 4);
    run("probe_instructions", 0, {out.id()});
    return download<std::uint32_t>(out);
  }
};

/// As the tables of the PTX documentation say, bit by bit.
TEST(Tcgen05Test, InstructionsHaveTheBitsThatTheHardwareReads) {
  const auto backend = testing_support::open_cached_cpu_backend();
  EXPECT_THAT(InstructionProbes(*backend).found(),
              testing::ElementsAre(0x08400490U, 0x08210490U, 0x04028010U, 0x08100910U, 0x08200010U,
                                   0x080804a0U, 32U, 512U));
}

class GemmTcgen05Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmTcgen05Mistakes, IsFound) {
  expect_found(GetParam(), "gemm_tcgen05", cases_of_mistakes());
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmTcgen05Mistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"TheProducerDoesNotWaitForAnEmptyStage",
                 "await_phase(empty_ + 8 * at_.stage, at_.parity ^ 1);\n      arrive_expecting",
                 "arrive_expecting"},
         Mistake{"ProductsDoNotWaitForAFullStage",
                 "await_tensor_phase(full + 8 * at.stage, at.parity);", ""},
         Mistake{
             "SumsAreStoredBeforeTheyAreComputed",
             "if (has_products) await_tensor_phase(computed + 8 * buffer.stage, buffer.parity);",
             ""},
         Mistake{"SumsAreOverwrittenBeforeTheyAreStored",
                 "await_tensor_phase(stored + 8 * buffer.stage, buffer.parity ^ 1);", ""},
         Mistake{"SumsAreGivenUpBeforeTheLastLoad", "first + CHUNK == PARTS * TILE_N",
                 "first == 0"},
         Mistake{"AStageIsNeverReleased", "products.commit(empty + 8 * at.stage);", ""},
         Mistake{"AStageIsReleasedWhileItIsRead", "products.commit(empty + 8 * at.stage);",
                 "arrive(empty + 8 * at.stage);"},
         Mistake{"NobodyLearnsThatSumsAreComputed", "products.commit(computed + 8 * buffer.stage);",
                 ""},
         Mistake{"SumsAreReportedBeforeTheyAreComputed",
                 "products.commit(computed + 8 * buffer.stage);",
                 "arrive(computed + 8 * buffer.stage);"},
         Mistake{"OneArrivalTooFewGivesUpSums", "init_barrier(stored + 8 * buffer, STORING);",
                 "init_barrier(stored + 8 * buffer, STORING - 1);"},
         Mistake{"OneArrivalTooManyGivesUpSums", "init_barrier(stored + 8 * buffer, STORING);",
                 "init_barrier(stored + 8 * buffer, STORING + 1);"},
         Mistake{"WarpsLoadTheLanesOfTheFirst", "first_lane = threadIdx.x / 32 % 4 * 32",
                 "first_lane = 0"},
         Mistake{"RowsOf64LieInNeighbouringLanes", "warp * WARP_ROWS + lane", "warp * 32 + lane"},
         Mistake{"ColumnsAreLoadedTwice", "load_sums(sum, sums + first)",
                 "load_sums(sum, sums + first / 2)"},
         Mistake{"TheAddressIsNotTheAllocated", "memory = tensor_memory_at(address_at)",
                 "memory = 0"},
         Mistake{"TheAddressIsReadTooEarly", "__syncthreads();\n  const unsigned memory",
                 "const unsigned memory"},
         Mistake{"TensorMemoryIsNotFreed",
                 "if (warp == MULTIPLYING) free_tensor_memory<COLUMNS>(memory);", ""},
         Mistake{"HalfOfTensorMemoryIsFreed", "free_tensor_memory<COLUMNS>(memory)",
                 "free_tensor_memory<COLUMNS / 2>(memory)"},
         Mistake{"TensorMemoryIsFreedWhileItIsUsed",
                 "__syncthreads();\n  if (warp == MULTIPLYING) free",
                 "if (warp == MULTIPLYING) free"},
         Mistake{"TooFewColumnsAreAllocated", "allocated_columns(BUFFERS * PARTS * TILE_N)",
                 "allocated_columns(PARTS * TILE_N / 2)"},
         Mistake{"PartsShareTheirSums", "sums + part * TILE_N", "sums"},
         Mistake{"PartsHaveTheSameRows", "Rows::offset(EXTENT * part, k)", "Rows::offset(0, k)"},
         Mistake{"BuffersShareTheirSums", "memory + buffer.stage * (PARTS * TILE_N);\n        for",
                 "memory;\n        for"},
         Mistake{"StepsOfKAreReadTwice", "column_operand + Columns::offset(0, k)",
                 "column_operand + Columns::offset(0, k == 48 ? 32 : k)"},
         Mistake{"TheFirstProductIsNotCleared", "k_tile > work.begin || k > 0", "true"},
         Mistake{"EveryKTileIsCleared", "k_tile > work.begin || k > 0", "k > 0"},
         Mistake{"Bf16IsMultipliedAsF16",
                 "TYPE == OperandType::bf16 || TYPE == OperandType::s8 ? 1",
                 "TYPE == OperandType::s8 ? 1"},
         Mistake{"SumsAreOfAnotherType", "SUM << 4", "SUM << 5"},
         Mistake{"OneOperandIsOfAnotherType", "ELEMENT << 10", "0u << 10"},
         Mistake{"TransposedRowsAreNotSaidToBe", "(ROWS_K_MAJOR ? 0u : 1u) << 15", "0u << 15"},
         Mistake{"TransposedColumnsAreNotSaidToBe", "(COLUMNS_K_MAJOR ? 0u : 1u) << 16",
                 "0u << 16"},
         Mistake{"HalfOfTheColumnsAreMultiplied", "columns / 8) << 17", "columns / 16) << 17"},
         Mistake{"HalfOfTheRowsAreMultiplied", "rows / 16) << 24", "rows / 32) << 24"},
         Mistake{"TheDescriptorIsOfAnotherVersion", "rows = row_operand | VERSION",
                 "rows = row_operand"},
         Mistake{"TheDescriptorHasAnotherStride", "STRIDE = 1024 / 16", "STRIDE = 512 / 16"},
         Mistake{"TheDescriptorHasAnotherSwizzle", "SWIZZLE_128 = 1ull << 62",
                 "SWIZZLE_128 = 1ull << 63"},
         Mistake{"ColumnsBeginInTheRows", "Columns::descriptor(from + Rows::BYTES, 0)",
                 "Columns::descriptor(from + Rows::BYTES - 1024, 0)"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

}  // namespace
}  // namespace tuner
