// SPDX-License-Identifier: Apache-2.0
// The kernel for tensor cores on the host: right in every layout, and every mistake in its pipeline
// and its layouts of shared memory is found.
#include "kernel_family.hpp"
#include "kernel_mistakes.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace tuner {
namespace {

class GemmTensorTest : public testing::Test {
 protected:
  /// Of small tiles, which take the time that a test may.
  void expect_right(std::string_view size, const std::string& condition) {
    family_.expect_part_right("gemm_wgmma", size,
                              "TILE_M*TILE_N*TILE_K <= 16384*64 and STAGES <= 5 and " + condition);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "gemm_tensor"};
};

TEST_F(GemmTensorTest, TilesAreRightInEveryLayoutAndType) {
  expect_right("72,80,136", "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and SPLIT == 0");
  expect_right("72,80,136,TRANS_A=1,TYPE=f16", "TILE_M == 128 and TILE_N == 48 and CONSUMERS == 2");
  expect_right("72,80,136,TRANS_B=1", "TILE_M == 128 and TILE_N == 64 and CONSUMERS == 1");
  expect_right("80,72,136,TRANS_A=1,TRANS_B=1",
               "TILE_M == 64 and TILE_N == 96 and PERSISTENT == 0");
}

TEST_F(GemmTensorTest, TilesAreRightWithRowsOfCAtAnyAlignmentAndOfSinglePrecision) {
  expect_right("72,75,136,LDB=80,LDC=75", "VECTOR_C == 1 and TILE_M == 64 and TILE_N == 32");
  expect_right("72,75,136,LDB=80,LDC=78", "VECTOR_C == 2 and TILE_M == 64 and TILE_N == 32");
  expect_right("72,80,136,TYPE=bf16_f32", "VECTOR_C == 8 and TILE_M == 64 and TILE_N == 64");
}

TEST_F(GemmTensorTest, ConsumersShareATileOrTakeTilesInTurn) {
  expect_right("200,72,136", "CONSUMERS == 3 and TILE_M == 192 and TILE_N == 32 and SPLIT == 0");
  expect_right("200,200,136,TRANS_B=1",
               "PING_PONG == 1 and TILE_M == 64 and TILE_N == 64 and STAGES == 3");
  expect_right("200,200,136", "PING_PONG == 1 and TILE_M == 128 and TILE_N == 48 and SPLIT == 0");
}

TEST_F(GemmTensorTest, KTilesOfSeveralPanelsAreRight) {
  expect_right("72,80,200,TRANS_B=1",
               "TILE_K == 128 and TILE_M == 64 and TILE_N == 64 and STAGES == 2");
  expect_right("72,80,200,TRANS_A=1",
               "TILE_K == 256 and TILE_M == 64 and TILE_N == 48 and STAGES == 2");
  expect_right("8,80,600,TRANS_B=1",
               "TILE_K == 256 and SWAP == 1 and TILE_M == 64 and TILE_N == 8");
}

TEST_F(GemmTensorTest, TheTransposedProductIsRight) {
  expect_right("5,200,136,TRANS_B=1", "SWAP == 1 and TILE_N == 8 and TILE_M == 128");
  expect_right("40,136,136", "SWAP == 1 and TILE_N == 48 and TILE_M == 64 and CONSUMERS == 1");
  expect_right("40,136,136,TRANS_A=1,BATCH=2", "SWAP == 1 and TILE_N == 24 and TILE_M == 64");
}

TEST_F(GemmTensorTest, SplitKIsRightInBatchesAndWithGroupsOfSplits) {
  expect_right("72,80,520,BATCH=2",
               "SPLIT_K > 1 and TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1");
  expect_right("128,64,1200,TRANS_B=1",
               "SPLIT_K > 8 and TILE_M == 128 and TILE_N == 64 and CONSUMERS == 2");
  expect_right("64,8,3000,TRANS_B=1,LDC=8",
               "SPLIT_K > 16 and TILE_M == 64 and TILE_N == 16 and SWAP == 0 and TILE_K == 64");
  expect_right("128,64,520,TRANS_B=1", "SPLIT_K > 1 and PING_PONG == 1 and TILE_N == 64");
  expect_right("8,136,520,TRANS_B=1", "SPLIT_K > 1 and SWAP == 1 and TILE_M == 64 and TILE_N == 8");
}

TEST_F(GemmTensorTest, RowsThatDoNotStartOn16BytesAreCopied) {
  const auto expect_realigned = [&](std::string_view size, const std::string& condition) {
    family_.expect_part_right(
        "gemm_wgmma_realigned", size,
        "TILE_K == 64 and TILE_M == 64 and TILE_N <= 64 and STAGES <= 4 and " + condition);
  };
  expect_realigned("35,37,71,TRANS_B=1", "TILE_N == 48 and SPLIT == 0");
  expect_realigned("35,37,300,TRANS_A=1,ALIGN=2", "TILE_N == 32 and SPLIT_K > 1");
  expect_realigned("35,40,72,LDA=75,BATCH=2", "TILE_N == 64 and SWAP == 1");
  expect_realigned("33,40,72,ALIGN=1,TYPE=bf16_f32", "TILE_N == 64");
}

TEST_F(GemmTensorTest, StreamedTilesAreRight) {
  expect_right("136,136,328,TRANS_B=1",
               "STREAM == 1 and TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and TILE_K == 64");
  expect_right("136,200,328", "STREAM == 2 and TILE_M == 128 and TILE_N == 48 and CONSUMERS == 2");
  expect_right("136,136,328,BATCH=3",
               "STREAM == 2 and TILE_M == 64 and TILE_N == 48 and PING_PONG == 1");
}

TEST_F(GemmTensorTest, SkinnyProductsAreRight) {
  const auto expect_skinny = [&](std::string_view size, const std::string& condition) {
    family_.expect_part_right("gemm_skinny_mma", size, "THREADS <= 128 and " + condition);
  };
  expect_skinny("1,72,136,TRANS_B=1", "TILES == 1 and UNROLL == 1 and STAGES == 2 and SPLIT == 0");
  expect_skinny("8,200,328,TRANS_B=1", "TILES == 2 and UNROLL == 2 and STAGES == 3 and WARPS == 2");
  expect_skinny("13,136,1200,TRANS_B=1,TYPE=f16", "SPLIT_K > 8 and WARPS_K == 2 and TILES == 1");
  expect_skinny("72,17,136,TRANS_B=1,TYPE=bf16_f32", "TILES == 4 and WARPS_K == 4");
  expect_skinny("5,40,72,TRANS_B=1,LDA=80,BATCH=3", "UNROLL == 1 and SPLIT_K > 1");
  expect_skinny("8,72,400,TRANS_B=1,TYPE=s8", "TILES == 2 and WARPS_K == 2 and SPLIT == 0");
  expect_skinny("3,72,2064,TRANS_B=1,TYPE=e4m3", "TILES == 1 and WARPS_K == 2 and SPLIT_K > 1");
}

TEST_F(GemmTensorTest, SkinnyProductsOfBulkCopiesAreRight) {
  const auto expect_bulk = [&](std::string_view size, const std::string& condition) {
    family_.expect_part_right("gemm_skinny_bulk", size, "MIN_BLOCKS == 1 and " + condition);
  };
  expect_bulk("1,72,136,TRANS_B=1", "TILES == 1 and WARPS == 2 and STAGES == 2");
  expect_bulk("8,200,328,TRANS_B=1", "TILES == 2 and WARPS == 4 and STAGES == 3");
  expect_bulk("13,136,1208,TRANS_B=1,TYPE=f16", "TILES == 1 and WARPS == 4 and STAGES == 2");
  expect_bulk("72,17,136,TRANS_B=1,TYPE=bf16_f32", "TILES == 2 and WARPS == 2 and STAGES == 3");
  expect_bulk("5,43,72,TRANS_B=1,LDA=80,LDB=88,BATCH=3", "TILES == 1 and WARPS == 2");
  expect_bulk("8,72,400,TRANS_B=1,TYPE=s8", "TILES == 4 and WARPS == 2 and GROUPS == 2");
  expect_bulk("3,72,2064,TRANS_B=1,TYPE=e4m3", "TILES == 1 and WARPS == 8 and STAGES == 4");
}

TEST_F(GemmTensorTest, ProductsOfFewTilesAreRight) {
  const auto expect_few = [&](std::string_view size, const std::string& condition) {
    family_.expect_part_right("gemm_few_tiles", size, condition);
  };
  family_.expect_right("gemm_few_tiles", "136,72,136,TRANS_B=1",
                       "TILE_M == 256 and TILE_N == 16 and CONSUMERS == 2");
  expect_few("72,80,136", "TILE_M == 64 and TILE_N == 64 and STAGES == 2");
  expect_few("72,80,264,TRANS_A=1,TYPE=f16",
             "TILE_M == 128 and TILE_N == 48 and CONSUMERS == 2 and STAGES == 3");
  expect_few("72,75,136,TRANS_B=1,LDC=75,BATCH=2",
             "TILE_M == 128 and TILE_N == 40 and CONSUMERS == 1");
  expect_few("40,136,328,TRANS_A=1,TRANS_B=1,TYPE=bf16_f32",
             "SWAP == 1 and TILE_M == 64 and TILE_N == 24 and STAGES == 3");
  expect_few("8,136,600,TRANS_B=1",
             "SWAP == 1 and TILE_M == 64 and TILE_N == 8 and TILE_K == 256 and STAGES == 2");
  expect_few("72,80,152,TRANS_B=1,TYPE=tf32", "TILE_M == 64 and TILE_N == 64 and STAGES == 4");
  expect_few("72,80,400,TRANS_B=1,TYPE=s8", "TILE_M == 128 and TILE_N == 32 and CONSUMERS == 2");
  expect_few("72,80,1040,TRANS_B=1,TYPE=e4m3", "TILE_M == 64 and TILE_N == 64 and STAGES == 3");
  expect_few("136,200,1040,TRANS_B=1,TYPE=e4m3",
             "TILE_M == 128 and TILE_N == 64 and CONSUMERS == 1");
  expect_few("72,75,136,LDB=80,LDC=75,BIAS=2,ACTIVATION=1,RESIDUAL=1,BATCH=2",
             "TILE_M == 64 and TILE_N == 64 and STAGES == 2");
}

TEST_F(GemmTensorTest, OperandsOf8And32BitsAreRight) {
  expect_right("72,80,152,TRANS_B=1,TYPE=tf32",
               "TILE_K == 32 and TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and SPLIT == 0");
  expect_right("40,72,312,TRANS_B=1,TYPE=tf32", "TILE_K == 64 and SWAP == 1 and TILE_N == 24");
  expect_right(
      "72,80,400,TRANS_B=1,TYPE=s8",
      "TILE_K == 128 and TILE_M == 128 and TILE_N == 48 and CONSUMERS == 2 and SPLIT == 0");
  expect_right("8,136,1040,TRANS_B=1,TYPE=s8",
               "SPLIT_K > 1 and SWAP == 1 and TILE_M == 64 and TILE_N == 8");
  expect_right("136,72,272,TRANS_B=1,TYPE=s8,BATCH=2",
               "STORE_BUFFERS == 1 and TILE_M == 64 and TILE_N == 64 and PING_PONG == 1");
  // Where a mistake in the sums is found, the right ones must pass.
  expect_right("64,72,8208,TRANS_B=1,TYPE=e4m3",
               "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and STAGES == 3 and SPLIT == 0");
  expect_right("64,72,912,TRANS_B=1,TYPE=e4m3",
               "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and STAGES == 3 and SPLIT == 0");
  // Without registers for the sums of two k-tiles.
  expect_right("136,200,1040,TRANS_B=1,TYPE=e4m3",
               "TILE_M == 64 and TILE_N == 128 and CONSUMERS == 1 and MIN_BLOCKS == 2");
  expect_right("136,72,1040,TRANS_B=1,TYPE=e4m3",
               "SPLIT_K > 1 and TILE_M == 128 and TILE_N == 32 and CONSUMERS == 2");
  expect_right("72,80,1040,TRANS_B=1,TYPE=e4m3_fast",
               "TILE_K == 256 and TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1");
}

TEST_F(GemmTensorTest, RowsOf8And32BitsThatDoNotStartOn16BytesAreCopied) {
  for (const char* const type : {"tf32", "s8", "e4m3"}) {
    family_.expect_part_right("gemm_wgmma_realigned",
                              std::string("35,37,139,TRANS_B=1,TYPE=") + type,
                              "PANELS == 1 and TILE_M == 64 and TILE_N == 48 and STAGES == 2");
  }
}

TEST_F(GemmTensorTest, BiasActivationAndResidualAreRight) {
  const std::string tile = "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1";
  expect_right("72,80,136,TRANS_B=1,BIAS=1,ACTIVATION=2", tile + " and STORE_BUFFERS == 1");
  expect_right("72,75,136,LDB=80,LDC=75,BIAS=2,ACTIVATION=1,RESIDUAL=1,BATCH=2", tile);
  expect_right("40,136,136,TRANS_B=1,BIAS=1,RESIDUAL=1,TYPE=f16",
               "SWAP == 1 and TILE_N == 48 and TILE_M == 64");
  expect_right("72,80,520,TRANS_B=1,BIAS=1,ACTIVATION=1,TYPE=bf16_f32", tile + " and SPLIT_K > 1");
  expect_right("72,80,400,TRANS_B=1,BIAS=1,ACTIVATION=2,RESIDUAL=1,TYPE=e4m3", tile);
  family_.expect_part_right("gemm_skinny_mma", "5,72,136,TRANS_B=1,BIAS=1,ACTIVATION=2,RESIDUAL=1",
                            "THREADS == 64 and TILES == 1 and SPLIT == 0");
  family_.expect_part_right("gemm_skinny_mma", "72,5,136,TRANS_B=1,BIAS=2,ACTIVATION=1",
                            "THREADS == 64 and TILES == 1 and SPLIT_K > 1");
  family_.expect_part_right("gemm_skinny_bulk", "5,72,136,TRANS_B=1,BIAS=1,ACTIVATION=2,RESIDUAL=1",
                            "WARPS == 2 and TILES == 1 and MIN_BLOCKS == 1");
  family_.expect_part_right("gemm_skinny_bulk", "72,5,136,TRANS_B=1,BIAS=2,ACTIVATION=1",
                            "WARPS == 2 and TILES == 2 and MIN_BLOCKS == 1");
  family_.expect_part_right("gemm_wgmma_realigned", "35,37,71,TRANS_B=1,BIAS=1,ACTIVATION=2",
                            "TILE_M == 64 and TILE_N == 48 and STAGES == 2");
}

TEST_F(GemmTensorTest, WhereAlphaIsZeroCIsScaled) {
  KernelFamily family(*backend_, "gemm_tensor", 0);
  const std::string size = "40,72,136,TRANS_B=1,BATCH=2,BIAS=1,RESIDUAL=1";
  family.expect_part_right("gemm_wgmma", size, "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1");
  family.expect_part_right("gemm_few_tiles", size, "TILE_M == 64 and TILE_N == 64 and STAGES == 2");
  const std::string skinny = "5,72,136,TRANS_B=1,BATCH=2,BIAS=1,RESIDUAL=1";
  family.expect_part_right("gemm_skinny_mma", skinny,
                           "THREADS == 64 and TILES == 1 and SPLIT == 0");
  family.expect_part_right("gemm_skinny_bulk", skinny,
                           "WARPS == 2 and TILES == 1 and MIN_BLOCKS == 1");
}

TEST_F(GemmTensorTest, TilesStoredByTmaAreRight) {
  expect_right("136,200,136,TRANS_B=1", "STORE_BUFFERS == 2 and TILE_M == 64 and TILE_N == 128");
  expect_right("200,136,136,BATCH=2",
               "STORE_BUFFERS == 1 and TILE_M == 128 and TILE_N == 64 and CONSUMERS == 2 and "
               "PING_PONG == 0");
  expect_right("136,136,200,TRANS_B=1",
               "STORE_BUFFERS == 2 and TILE_M == 64 and TILE_N == 64 and PING_PONG == 1");
  expect_right("72,100,136,LDB=104,TYPE=bf16_f32",
               "STORE_BUFFERS == 4 and TILE_M == 64 and TILE_N == 96");
}

TEST_F(GemmTensorTest, GroupsOfRowsAreMultipliedByMatricesOfTheirOwn) {
  KernelFamily family(*backend_, "gemm_grouped");
  family.expect_part_right("gemm_grouped", "72,80,136,GROUPS=5",
                           "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and STAGES == 3");
  family.expect_part_right("gemm_grouped", "40,72,72,GROUPS=9,TRANS_B=0,TYPE=f16",
                           "SWAP == 1 and TILE_M == 64 and TILE_N == 16 and STAGES == 3");
  family.expect_part_right("gemm_grouped", "136,72,72,GROUPS=3",
                           "PING_PONG == 1 and TILE_M == 64 and TILE_N == 32 and STAGES == 3");
}

class GemmTensorMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmTensorMistakes, IsFound) {
  const std::string common = "SWAP == 0 and TILE_K == 64 and STAGES == 3 and ";
  // Tiles stored by TMA; K-major operands that share a tile; others in turn, with split-K; streamed
  // tiles.
  expect_found(GetParam(), "gemm_wgmma",
               {{"136,200,328,TRANS_B=1",
                 common + "TILE_M == 64 and TILE_N == 128 and CONSUMERS == 1 and SPLIT == 0 and "
                          "STREAM == 0 and STORE_BUFFERS == 1"},
                {"136,72,328,TRANS_B=1",
                 common + "TILE_M == 128 and TILE_N == 32 and CONSUMERS == 2 and PING_PONG == 0 "
                          "and SPLIT == 0 and STREAM == 0 and PERSISTENT == 1"},
                {"136,72,328,TRANS_A=1",
                 common + "TILE_M == 64 and TILE_N == 96 and PING_PONG == 1 and SPLIT > 0"},
                {"136,136,328,TRANS_B=1",
                 common + "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and STREAM == 2"}});
}

/// Mistakes in what only operands of 8 and 32 bits need, and what follows a product.
class GemmTensorTypeMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmTensorTypeMistakes, IsFound) {
  const std::string tile =
      "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and STAGES == 3 and "
      "SPLIT == 0 and STREAM == 0 and STORE_BUFFERS == 0 and PANELS == 1";
  expect_found(GetParam(), "gemm_wgmma",
               {{"64,72,8208,TRANS_B=1,TYPE=e4m3", tile},
                {"64,72,912,TRANS_B=1,TYPE=e4m3", tile},
                {"72,80,152,TRANS_B=1,TYPE=tf32", tile}});
}

class GemmGroupedMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmGroupedMistakes, IsFound) {
  const std::string common = "TILE_M == 64 and CONSUMERS == 1 and STAGES == 3 and PANELS == 1 and ";
  expect_found(GetParam(), "gemm_grouped",
               {{"72,72,72,GROUPS=5", common + "SWAP == 0 and TILE_N == 32"},
                {"72,72,72,GROUPS=5", common + "SWAP == 1 and TILE_N == 16"}},
               "gemm_grouped");
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmGroupedMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"TilesOfAGroupAreNotSkipped", "left_ -= along * across_;", ""},
         Mistake{
             "RowsOfTheNextGroupAreStored",
             "rows = groups_.offsets[group_ + 1] - first;\n      const int along = ceil_div(rows, "
             "EXTENT);",
             "rows = groups_.offsets[groups_.count] - first;\n      const int along = "
             "ceil_div(groups_.offsets[group_ + 1] - first, EXTENT);"},
         Mistake{"EveryGroupHasTheFirstMatrix", "work.batch = group_;", "work.batch = 0;"},
         Mistake{"RowsAreReadFromTheFirstOn", "Rows::TILE + (SWAP ? 0 : first)", "Rows::TILE"},
         Mistake{"ColumnsAreReadFromTheFirstOn", "Columns::TILE + (SWAP ? first : 0)",
                 "Columns::TILE"},
         Mistake{"ResultsAreStoredFromTheFirstOn", "static_cast<long long>(work.first) * pitch",
                 "0"},
         Mistake{"TheLastGroupIsLost", "group_ < groups_.count; ++group_",
                 "group_ < groups_.count - 1; ++group_"},
         Mistake{"ATileIsComputedByOneBlockOnly", "left_ += workers_;",
                 "left_ += workers_ + 1;"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

class GemmEpilogueMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmEpilogueMistakes, IsFound) {
  const std::string tile =
      "TILE_M == 64 and TILE_N == 64 and CONSUMERS == 1 and STAGES == 2 and "
      "SPLIT == 0 and STREAM == 0 and STORE_BUFFERS == 0";
  expect_found(GetParam(), "gemm_wgmma",
               {{"72,80,72,BATCH=2,BIAS=1,ACTIVATION=2,RESIDUAL=1", tile + " and SWAP == 0"},
                {"72,80,72,BIAS=2,ACTIVATION=1", tile + " and SWAP == 1"}});
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmTensorTypeMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"SumsOf128ProductsAreNotPromoted", "if constexpr (PROMOTED) {",
                 "if constexpr (false) {"},
         Mistake{"SumsOfAKTileAreNotCleared", "return begin(sums, true);",
                 "return begin(sums, false);"},
         Mistake{"TheLastKTileIsNotPromoted", "products.await<0>();\n      promote(last);",
                 "products.await<0>();"},
         Mistake{"OneKTileIsPromotedTwice", "end(odd);", "end(even);"},
         Mistake{"ProductsHaveTheDepthOf16Bits", "k += PRODUCT_DEPTH<T>", "k += 16"},
         Mistake{"OffsetsAreThoseOf16Bits", "k % WIDTH * static_cast<int>(sizeof(T))",
                 "k % WIDTH * 2"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

INSTANTIATE_TEST_SUITE_P(
    Each, GemmEpilogueMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"TheBiasOfColumnsIsThatOfRows", "bias[column]", "bias[row]"},
         Mistake{"TheBiasOfRowsIsThatOfColumns", "bias[row]", "bias[column]"},
         Mistake{"TheBiasIsThatOfTheTransposedProduct",
                 "TRANSPOSED ? column : row, TRANSPOSED ? row : column", "row, column"},
         Mistake{"TheResidualIsThatOfTheFirstProduct", "RESIDUAL ? residual + offset : residual",
                 "residual"},
         Mistake{
             "TheResidualIsAddedBehindTheActivation",
             "if constexpr (RESIDUAL) value += static_cast<float>(residual[offset]);\n    if "
             "constexpr (ACTIVATION == 1) value = relu(value);\n    if constexpr (ACTIVATION == "
             "2) value = gelu(value);",
             "if constexpr (ACTIVATION == 2) value = gelu(value);\n"
             "if constexpr (RESIDUAL) value += static_cast<float>(residual[offset]);"},
         Mistake{"NegativeNumbersStay", "x < 0.0f ? 0.0f : x", "x"},
         Mistake{"TheCubeOfGeluIsMissing", "0.0713548163f * x * x", "0.0f"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

class GemmSkinnyMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmSkinnyMistakes, IsFound) {
  const std::string common = "TILES == 2 and UNROLL == 2 and STAGES == 3 and WARPS == 1 and ";
  expect_found(GetParam(), "gemm_skinny_mma",
               {{"5,72,328,TRANS_B=1", common + "WARPS_K == 2 and SPLIT > 0"},
                {"5,72,328,TRANS_B=1", common + "WARPS_K == 2 and SPLIT == 0"}});
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmSkinnyMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"AStageIsNotAwaited", "copies.await<STAGES - 2>();", ""},
         Mistake{"AStageIsAwaitedTooLate", "copies.await<STAGES - 2>()",
                 "copies.await<STAGES - 1>()"},
         Mistake{"AStageIsOverwrittenWhileItIsRead", "stage == 0 ? STAGES - 1 : stage - 1",
                 "stage"},
         Mistake{"TheEndOfARowIsNotZero", "left < 0 ? 0 : left < 16 ? left : 16", "16"},
         Mistake{"HalvesOfAVectorAreExchanged", "column[2 * half + 1]", "column[2 * half]"},
         Mistake{"LowerRowsAreUpper", "lower[2 * half], upper[2 * half + 1]",
                 "upper[2 * half], upper[2 * half + 1]"},
         Mistake{"HalfOfTheSumsIsLost", " + sum[tile][j][1][i]", ""},
         Mistake{"OneWarpAlongKIsLost", "w < WARPS_K; ++w", "w < WARPS_K - 1; ++w"},
         Mistake{"PartsOfKOverlap", "begin + part;", "begin + part + 8;"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

class GemmSkinnyBulkMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmSkinnyBulkMistakes, IsFound) {
  expect_found(
      GetParam(), "gemm_skinny_bulk",
      {{"13,141,328,TRANS_B=1", "TILES == 1 and STAGES == 2 and WARPS == 4 and GROUPS == 4"},
       {"40,5,328,TRANS_B=1", "TILES == 2 and STAGES == 3 and WARPS == 2"}});
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmSkinnyBulkMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"TheShortOperandIsNotAwaited",
                 "    await_phase(full + 8 * stage, phase);\n#pragma unroll", "#pragma unroll"},
         Mistake{"AStageIsOverwrittenWhileItIsRead", "await_phase(empty + 8 * stage, phase ^ 1u);",
                 ""},
         Mistake{"WhatNoCopyWritesStays", "if (rest > 0)", "if (rest < 0)"},
         Mistake{"HalvesOfAVectorAreExchanged", "words.at[2 * half + 1]}", "words.at[2 * half]}"},
         Mistake{"LowerRowsAreUpper", "operand[3] = lower", "operand[3] = upper"},
         Mistake{"HalfOfTheSumsIsLost", " + halves[1][i % 2 * 2]", ""},
         Mistake{"OneWarpAlongKIsLost", "w < WARPS; w += ADDERS", "w < WARPS - 1; w += ADDERS"},
         Mistake{"SumsAreStoredBeforeTheyAreThere", "    sync_block<THREADS>();\n    S* const to",
                 "    S* const to"},
         Mistake{"ClustersDoNotShareTheRest", "(cluster < more ? cluster : more)", "0"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

class GemmFewTilesMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmFewTilesMistakes, IsFound) {
  expect_found(GetParam(), "gemm_few_tiles",
               {{"200,136,456,TRANS_B=1",
                 "TILE_M == 128 and TILE_N == 48 and CONSUMERS == 2 and STAGES == 3"},
                {"72,80,328,BATCH=2,BIAS=1,RESIDUAL=1",
                 "TILE_M == 64 and TILE_N == 64 and STAGES == 2 and SWAP == 1"}});
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmFewTilesMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"TheProducerDoesNotWaitForAnEmptyStage",
                 "await_phase(empty + 8 * at.stage, at.parity ^ 1u);", ""},
         Mistake{"ConsumersDoNotWaitForAFullStage", "await_phase(full + 8 * at.stage, at.parity);",
                 ""},
         Mistake{"OneArrivalTooManyEmptiesAStage", "stage, 4 * CONSUMERS)",
                 "stage, 4 * CONSUMERS + 1)"},
         Mistake{"TheLastKTileIsDropped", "k_tiles = ceil_div(K, TILE_K)", "k_tiles = K / TILE_K"},
         Mistake{"TheFirstProductIsNotCleared", "!is_first || k > 0", "true"},
         Mistake{"TilesAreRowByRow", "tile % tiles_m * TILE_M", "tile / tiles_m * TILE_M"},
         Mistake{"TheFirstOfABatchIsReadAgain", "batch = static_cast<int>(blockIdx.z)",
                 "batch = 0"},
         Mistake{"TheResidualOfTheFirstIsAddedToAll", "residual + offset", "residual"},
         Mistake{"ConsumersHaveTheSameRows", "thread / WARPGROUP * PARTS * 64", "0"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

INSTANTIATE_TEST_SUITE_P(
    Each, GemmTensorMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"TheProducerDoesNotWaitForAnEmptyStage",
                 "await_phase(empty_ + 8 * at_.stage, at_.parity ^ 1);\n      arrive_expecting",
                 "arrive_expecting"},
         Mistake{"TheProducerWaitsForTheOtherPhase", "at_.parity ^ 1);\n      arrive_expecting",
                 "at_.parity);\n      arrive_expecting"},
         Mistake{"ConsumersDoNotWaitForAFullStage", "await_phase(full + 8 * at.stage, at.parity);",
                 ""},
         Mistake{"AStageIsReleasedWhileItIsRead", "products.await<1>();\n    release(reading);",
                 "release(reading);\n    products.await<1>();"},
         Mistake{"TheParityNeverChanges", "stage = 0;\n      parity ^= 1;", "stage = 0;"},
         Mistake{"AConsumerSkipsTooFewStages", "at.advance(work.end - work.begin);",
                 "at.advance(work.end - work.begin - 1);"},
         Mistake{"TheParityIsNotSkipped", "parity ^= static_cast<unsigned>(sum / STAGES) & 1u;",
                 ""},
         Mistake{"OneArrivalTooFewEmptiesAStage", "4 * TEAM * PEERS", "4 * TEAM * PEERS - 1"},
         Mistake{"OneArrivalTooManyEmptiesAStage", "4 * TEAM * PEERS", "4 * TEAM * PEERS + 1"},
         Mistake{"TheLastKTileIsDropped", "ceil_div(K, TILE_K)}", "K / TILE_K}"},
         Mistake{"TheFirstProductIsNotCleared", "!is_first || k > 0", "true"},
         Mistake{"EveryKTileIsCleared", "!is_first || k > 0", "k > 0"},
         Mistake{"SixteenStepsAreReadTwice", "row_operand + Rows::offset(64 * part, k)",
                 "row_operand + Rows::offset(64 * part, k == 48 ? 32 : k)"},
         Mistake{"OneSplitBeginsTooLate", "(split < more ? split : more);",
                 "(split < more ? split : more) + (split > 0);"},
         Mistake{"ThePartsOfASplitOverlap", "each + (split < more ? 1 : 0);", "each + 1;"},
         Mistake{"StreamedRangesOverlap", "stop_ = start(sharer_ + 1);",
                 "stop_ = start(sharer_ + 1) + (worker == 0);"},
         Mistake{"WorkersShareASlot", "work.first_extra = start(first) / k_tiles != tile ? 1 : 0;",
                 "work.first_extra = 0;"},
         Mistake{"TheEndOfARangeIsForgotten",
                 "stop_ < (tile + 1) * k_tiles ? stop_ - tile * k_tiles : k_tiles", "k_tiles"},
         Mistake{"TheSumsOfOneSplitAreLost", "stored[i].add_to(total);",
                 "if (first + i > 0) stored[i].add_to(total);"},
         Mistake{"ASliceIsNotLeftToTheLast",
                 "has_slice && flags[0] == 0 ? split :", "false ? split :"},
         Mistake{"OnlyOneSliceIsTaken", "word = left & (left - 1);", "word = 0;"},
         Mistake{"TheCounterOfSplitsIsNotReset", "words[1] = 0;", ""},
         Mistake{"TheSwizzleOfCopiesIsNotThatOfProducts", "map.swizzle_bytes == 128",
                 "map.swizzle_bytes == 64"},
         Mistake{"TheDescriptorHasAnotherStride", "STRIDE = 1024 / 16", "STRIDE = 512 / 16"},
         Mistake{"PanelsAreTooNear", "PANEL_BYTES);\n  }\n  /// From",
                 "PANEL_BYTES / 2);\n  }\n  /// From"},
         Mistake{"ColumnsBeginInTheRows", "Columns::load(to + Rows::BYTES",
                 "Columns::load(to + Rows::BYTES - 1024"},
         Mistake{"LanesOfAQuadAreExchanged", "const int piece = first + lane % 4;",
                 "const int piece = first + (lane ^ 1) % 4;"},
         Mistake{"StoresReachBeyondTheLastColumn", "column0 + COLUMNS <= c.columns",
                 "column0 < c.columns"},
         Mistake{"ABoxIsNotComplete", "publish_to_tma();\n      sync_warpgroup(barrier);",
                 "publish_to_tma();"},
         Mistake{"ABoxIsOverwritten", "await_read<BUFFERS - 1>()", "await_read<BUFFERS>()"},
         Mistake{"OthersOverwriteABox",
                 "await_read<BUFFERS - 1>();\n      sync_warpgroup(barrier);",
                 "await_read<BUFFERS - 1>();"},
         Mistake{"BoxesAreNotAwaited", "if constexpr (STORE_BUFFERS > 0) output.finish();", ""},
         Mistake{"BoxesAreSwizzledByTheWrongRow", "(row % 8 << 4)", "(row % 4 << 4)"},
         Mistake{"ABoxReachesBeyondTheLastColumn", "if (column0 + COLUMNS > c.columns) {",
                 "if (false) {"},
         Mistake{"BoxesFollowTooNear", "column0 + box * WIDTH", "column0 + box * (WIDTH / 2)"},
         Mistake{"BetaIsForgotten", "if (__builtin_expect(beta == S(0), 1)) {", "if (true) {"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

}  // namespace
}  // namespace tuner
