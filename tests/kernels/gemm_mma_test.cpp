// SPDX-License-Identifier: Apache-2.0
// gemm_mma on the host: right in every layout and type and at every alignment, and every mistake in
// its pipeline and its layouts of shared memory is found.
#include "kernel_family.hpp"
#include "kernel_mistakes.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {
namespace {

/// Small tiles, which take the time that a test may.
constexpr std::string_view kSmall = "TILE_M*TILE_N <= 4096 and STAGES <= 4";

class GemmMmaTest : public testing::Test {
 protected:
  void expect_right(std::string_view size, const std::string& condition) {
    family_.expect_part_right("gemm_mma", size, std::string(kSmall) + " and " + condition);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "gemm_tensor"};
};

/// The first and the last have one operand each that is contiguous along K.
const std::vector<std::string> kLayouts = {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"};

class GemmMmaTypes : public GemmMmaTest, public testing::WithParamInterface<const char*> {};

TEST_P(GemmMmaTypes, AreRightInEveryLayout) {
  const std::string type = std::string(",TYPE=") + GetParam();
  // Lines of operands that are not contiguous along K have 128 bytes.
  const bool has_bytes = type.ends_with("s8") || type.find("e4m3") != std::string::npos;
  const std::string tile = std::string("SPLIT == 0 and STREAM == 0 and STAGES <= 4 and ") +
                           (has_bytes ? "TILE_M*TILE_N <= 16384" : "TILE_M*TILE_N <= 8192");
  const bool takes_all = type == ",TYPE=bf16" || testing_support::takes_all();
  for (const std::string& layout : takes_all ? kLayouts : testing_support::part(kLayouts)) {
    family_.expect_right("gemm_mma", "48,144,272" + layout + type, tile);
  }
  family_.expect_right("gemm_mma", "37,71,139" + type, tile);
}

INSTANTIATE_TEST_SUITE_P(Each, GemmMmaTypes,
                         testing::Values("bf16", "f16", "bf16_f32", "tf32", "s8", "e4m3",
                                         "e4m3_fast"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_F(GemmMmaTest, CopiesAreAsWideAsRowsAreAligned) {
  expect_right("40,72,136,LDA=140,LDB=74", "VECTOR_A == 8 and VECTOR_B == 4 and SPLIT == 0");
  expect_right("40,72,136,LDA=137,LDB=77,LDC=73", "VECTOR_A == 2 and VECTOR_C == 1");
  expect_right("40,72,136,ALIGN=2,TRANS_A=1,LDC=76", "VECTOR_A == 8 and VECTOR_C == 4");
  expect_right("40,72,136,ALIGN=1,TRANS_B=1", "VECTOR_B == 4 and VECTOR_C == 2");
  expect_right("40,72,136,LDA=138,LDB=151,TYPE=s8", "VECTOR_A == 2 and VECTOR_B == 1");
  expect_right("40,72,136,LDA=139,LDB=141,TRANS_B=1,TYPE=tf32", "VECTOR_A == 4");
}

TEST_F(GemmMmaTest, WarpsShareATileInEveryShape) {
  const std::string whole = "SPLIT == 0 and STREAM == 0 and ";
  expect_right("72,136,136,TRANS_B=1", whole + "WARPS_M == 1 and WARPS_N == 1 and FRAGMENTS == 2");
  expect_right("72,136,136,TRANS_B=1", whole + "WARPS_M == 4 and WARPS_N == 1 and FRAGMENTS == 1");
  expect_right("72,136,136", whole + "WARPS_M == 1 and WARPS_N == 4 and FRAGMENTS == 1");
  expect_right("136,72,136,TRANS_A=1", whole + "WARPS_M == 2 and WARPS_N == 2 and DEPTH == 128");
  expect_right("16,136,200,TRANS_B=1", whole + "TILE_M == 16 and WARPS_N == 2 and STAGES == 2");
  expect_right("136,16,200,TRANS_A=1,TRANS_B=1", whole + "TILE_N == 16 and WARPS_M == 2");
  expect_right("97,40,72,TRANS_B=1", whole + "TILE_M == 96 and TILE_N == 32 and WARPS_M == 2");
}

TEST_F(GemmMmaTest, SplitKIsRightInBatches) {
  const std::string tile = "TILE_M == 32 and TILE_N == 64 and DEPTH == 64 and STREAM == 0 and ";
  expect_right("40,72,520,BATCH=2", tile + "SPLIT_K > 1");
  expect_right("40,72,520,TRANS_B=1,LDC=73", tile + "SPLIT_K > 1 and WARPS_N == 2");
  expect_right("32,64,1200,TRANS_B=1", tile + "SPLIT_K > 8 and WARPS_M == 2");
  expect_right("40,136,1040,TYPE=s8", "TILE_N == 128 and TILE_M <= 32 and SPLIT_K > 1");
  expect_right("40,72,1040,TRANS_B=1,TYPE=e4m3", tile + "SPLIT_K > 1");
}

TEST_F(GemmMmaTest, StreamedTilesAreRight) {
  const std::string tile = "TILE_M == 32 and TILE_N == 64 and DEPTH == 64 and SPLIT == 0 and ";
  expect_right("136,200,328,TRANS_B=1", tile + "STREAM == 1 and MIN_BLOCKS == 2");
  expect_right("136,200,328", tile + "STREAM == 2 and WARPS_M == 2");
  expect_right("72,136,328,BATCH=3,TYPE=tf32", tile + "STREAM == 2 and WARPS_N == 2");
}

TEST_F(GemmMmaTest, BiasActivationAndResidualAreRight) {
  const std::string whole = "SPLIT == 0 and STREAM == 0";
  expect_right("40,72,136,TRANS_B=1,BIAS=1,ACTIVATION=2", whole);
  expect_right("40,75,136,BIAS=2,ACTIVATION=1,RESIDUAL=1,BATCH=2", whole);
  expect_right("40,72,136,TRANS_A=1,BIAS=1,RESIDUAL=1,TYPE=f16", whole);
  expect_right("40,72,520,TRANS_B=1,BIAS=1,ACTIVATION=1,RESIDUAL=1,TYPE=bf16_f32", "SPLIT_K > 1");
  expect_right("40,144,400,BIAS=2,ACTIVATION=2,RESIDUAL=1,TYPE=e4m3", whole);
}

TEST_F(GemmMmaTest, WhereAlphaIsZeroCIsScaled) {
  KernelFamily family(*backend_, "gemm_tensor", 0);
  family.expect_right("gemm_mma", "40,72,136,TRANS_B=1,BATCH=2,BIAS=1,RESIDUAL=1",
                      std::string(kSmall) + " and SPLIT == 0 and STREAM == 0");
}

class GemmMmaMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(GemmMmaMistakes, IsFound) {
  const std::string tile = "WARPS_M == 2 and WARPS_N == 2 and STAGES == 3 and ";
  const std::string whole = "SPLIT == 0 and STREAM == 0 and ";
  // Operands contiguous along K, then along the extent; bytes, of which one operand is; tf32, in
  // warps of 64 rows; split-K; streamed tiles.
  const std::string square = tile + "TILE_M == 64 and TILE_N == 64 and FRAGMENTS == 2 and ";
  const std::string wide = tile + "TILE_M == 128 and TILE_N == 128 and FRAGMENTS == 1 and ";
  const std::string part = square + "DEPTH == 64 and ";
  expect_found(GetParam(), "gemm_mma",
               {{"200,136,328,TRANS_B=1", square + whole + "DEPTH == 128"},
                {"136,200,328,TRANS_A=1,LDC=201", square + whole + "DEPTH == 64"},
                {"136,136,328,TRANS_A=1,TRANS_B=1,TYPE=s8", wide + whole + "DEPTH == 64"},
                {"72,136,131,TRANS_A=1,TYPE=tf32,BIAS=1,ACTIVATION=2,RESIDUAL=1",
                 whole + "WARPS_M == 1 and WARPS_N == 2 and STAGES == 3 and TILE_M == 64 and "
                         "TILE_N == 64 and FRAGMENTS == 1 and DEPTH == 64"},
                {"72,80,520,TRANS_B=1", part + "SPLIT_K > 1 and SPLIT > 0"},
                {"136,200,328", part + "STREAM == 2"}});
}

INSTANTIATE_TEST_SUITE_P(
    Each, GemmMmaMistakes,
    testing::ValuesIn(testing_support::part<Mistake>(
        {Mistake{"AStageIsNotAwaited", "copies.await<STAGES - 2>();\n          __syncthreads();",
                 "__syncthreads();"},
         Mistake{"AStageIsAwaitedTooLate",
                 "copies.await<STAGES - 2>();\n          __syncthreads();",
                 "copies.await<STAGES - 1>();\n          __syncthreads();"},
         Mistake{"WarpsDoNotAwaitTheCopiesOfOthers",
                 "copies.await<STAGES - 2>();\n          __syncthreads();",
                 "copies.await<STAGES - 2>();"},
         Mistake{"AStageIsOverwrittenWhileItIsRead", "stage == 0 ? STAGES - 1 : stage - 1",
                 "stage"},
         Mistake{"TheFirstStageIsNotAwaited",
                 "copies.await<STAGES - 2>();\n    __syncthreads();\n    Sums", "Sums"},
         Mistake{"AShareOfTheCopiesIsLost", "fetch(emptied, step, STEPS - 1)",
                 "fetch(emptied, 0, STEPS - 1)"},
         Mistake{"TheSourceDoesNotAdvance", "if (share == shares - 1) {", "if (false) {"},
         Mistake{"FragmentsOfTheNextStepAreThoseOfThis", "(step + 1) % STEPS);", "step % STEPS);"},
         Mistake{"TheLastKTileIsDropped", "ceil_div(K, TILE_K)}", "K / TILE_K}"},
         Mistake{"TheEndOfARowIsNotZero", "elements_left_ < ELEMENTS ? elements_left_",
                 "elements_left_ < ELEMENTS ? ELEMENTS"},
         Mistake{"ALineBehindTheLastIsRead", "line < lines_left_ ?", "line < lines_left_ + 1 ?"},
         Mistake{"TheSwizzleOfCopiesIsNotThatOfLoads",
                 "to + Operand::at(static_cast<unsigned>(line_ + line), "
                 "static_cast<unsigned>(byte_))",
                 "to + (line_ + line) * Operand::LINE_BYTES + byte_"},
         Mistake{"StepsAreNotSwizzled", "(address ^ step * 32)", "(address + step * 32)"},
         Mistake{"FragmentsAreNotSwizzled", "(address ^ fragment * PIECE % 128)",
                 "(address + fragment * PIECE % 128)"},
         Mistake{"FragmentsBehind128BytesAreThoseBefore", "fragment * PIECE / 128 * 128 +",
                 "0 * 128 +"},
         Mistake{"MatricesOfAFragmentAreExchanged", "matrix / 2 * 8 + row, begin + matrix % 2 * 16",
                 "matrix % 2 * 8 + row, begin + matrix / 2 * 16"},
         Mistake{"BytesOfNeighboursAreExchanged", "i % 2 ? 0x7531 : 0x6420",
                 "i % 2 ? 0x6420 : 0x7531"},
         Mistake{"LinesOfBytesAreExchanged", "row / 2 * 4 + matrix % 2 * 2 + row % 2",
                 "matrix % 2 * 8 + row"},
         Mistake{"NeighboursAreRowsApart",
                 "2 * (fragment_row % 8) + fragment_row / 8 : fragment_row",
                 "fragment_row : fragment_row"},
         Mistake{"WordsOfTf32AreNotSwizzled", "(from ^ i % 2 * 32)", "(from + i % 2 * 32)"},
         Mistake{"HalvesOfTheColumnsAreExchanged", "words[n % 2], words[n % 2 + 2]",
                 "words[n / 2 % 2 * 2], words[n / 2 % 2 * 2 + 1]"},
         Mistake{"WarpsHaveTheSameRows", "warp / WARPS_N * WARP_M,", "0,"},
         Mistake{"TheResidualOfTheFirstIsAddedToAll", "RESIDUAL ? residual + offset : residual",
                 "residual + 1"},
         Mistake{"TheBiasIsThatOfTheFirstColumns", "what.apply(value[i], row, column + i",
                 "what.apply(value[i], row, i"},
         Mistake{"StoresReachBehindTheLastColumn", "column + WIDTH <= columns) {", "true) {"},
         Mistake{"BetaIsForgotten", "if (beta != S(0)) {", "if (false) {"},
         Mistake{"LowerRowsAreStagedAsUpper", "lane / 4 + i / 2 * 8", "lane / 4 + i / 4 * 8"},
         Mistake{"SumsAreReadBeforeTheyAreStaged", "      }\n      __syncwarp();\n#pragma unroll",
                 "      }\n#pragma unroll"},
         Mistake{"TotalsOfAWarpAreThoseOfAnother", "thread / 32 % WARPS_N * Part::COLUMNS",
                 "thread / 32 / WARPS_N * Part::COLUMNS"},
         Mistake{"TheRingIsRefilledWhileSumsAreStaged", "__syncthreads();  // the ring", "//"}})),
    [](const auto& tested) { return std::string(tested.param.what); });

TEST(GemmMmaSums, ThatAreNotPromotedAreFound) {
  expect_found({"", "if constexpr (PROMOTED) {", "if constexpr (false) {"}, "gemm_mma",
               {{"64,72,8208,TRANS_B=1,TYPE=e4m3",
                 "TILE_M == 64 and TILE_N == 64 and WARPS_M == 2 and WARPS_N == 2 and STAGES == 3 "
                 "and SPLIT == 0 and STREAM == 0"}});
}

}  // namespace
}  // namespace tuner
