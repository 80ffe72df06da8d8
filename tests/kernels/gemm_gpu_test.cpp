// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/gemm.json that need a GPU: tensor maps, producer warps.
#include "kernel_family.hpp"
#include "tests/backend/cuda_fixture.hpp"

#include <optional>

namespace tuner {
namespace {

class GemmGpuTest : public backend::TensorMapTest {
 protected:
  void SetUp() override {
    backend::TensorMapTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) family_.emplace(backend(), "gemm");
  }
  void TearDown() override { family_.reset(); }

  void expect_tma(std::string_view size, std::string_view condition) {
    family_->expect_right("gemm_tma", size, std::string(condition));
  }

  std::optional<KernelFamily> family_;
};

TEST_F(GemmGpuTest, TensorMapsLoadTilesInEveryLayout) {
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    const std::string size = std::string("300,260,200") + layout;
    expect_tma(size, "TILE_K == 32 and K_GROUPS == 1 and SPLIT == 0 and THREAD_M*THREAD_N >= 64");
    expect_tma(size, "TILE_K == 16 and STAGES >= 5 and SPLIT == 0");
    expect_tma(size, "FRAGMENTS == 1 and STAGES == 2 and MIN_BLOCKS >= 2");
  }
}

TEST_F(GemmGpuTest, TensorMapsLoadTilesWithSplitK) {
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    const std::string size = std::string("200,132,1900") + layout;
    expect_tma(size, "SPLIT_K > 1 and K_GROUPS == 1");
    expect_tma(size, "SPLIT == 0 and K_GROUPS == 2");
    expect_tma(size, "SPLIT_K > 8 and K_GROUPS == 2");
  }
}

TEST_F(GemmGpuTest, TensorMapsLoadTilesOfBatchesAndPaddedRows) {
  expect_tma("100,68,52,BATCH=5", "SPLIT == 0");
  expect_tma("100,68,500,BATCH=3,TRANS_A=1,TRANS_B=1", "SPLIT_K > 1");
  expect_tma("70,66,50,LDA=56,LDB=68,LDC=71", "STAGING_SLOTS == 2");
  expect_tma("4,4,4", "SPLIT == 0");
}

// One test per layout of A and B: each compiles some twenty kernels.
class GemmGpuAlignmentTest : public GemmGpuTest, public testing::WithParamInterface<const char*> {};

TEST_P(GemmGpuAlignmentTest, TensorMapsLoadTiles) {
  const std::string layout = GetParam();
  for (const char* const sizes : {"301,263,205", "302,262,202", "303,261,207"}) {
    const std::string size = sizes + layout;
    expect_tma(size, "TILE_K == 32 and SPLIT == 0 and STAGED_C == 0");
    expect_tma(size, "TILE_K == 16 and K_GROUPS == 1 and STAGED_C == 1");
    expect_tma(size, "SPLIT_K > 1 and K_GROUPS == 2 and STAGED_C == 1");
    expect_tma(size + ",ALIGN=1", "TILE_K == 32 and STAGED_C == 1");
    expect_tma(size + ",ALIGN=2", "TILE_K == 16");
  }
  expect_tma("300,264,204,LDA=301" + layout, "TILE_K == 32");  // one operand has aligned rows
  expect_tma("300,264,204,LDB=267" + layout, "TILE_K == 16 and STAGES > 2");
}

INSTANTIATE_TEST_SUITE_P(Layouts, GemmGpuAlignmentTest,
                         testing::Values("", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"));

TEST_F(GemmGpuTest, TensorMapsLoadTilesWithPaddedRowsOrOfFewElements) {
  expect_tma("101,62,53,BATCH=3,LDA=56,LDB=64,LDC=63", "STAGED_C == 1");
  expect_tma("4,5,7", "SPLIT == 0");
}

TEST_F(GemmGpuTest, ProducerWarpsLoadTilesAtAnyAlignment) {
  family_->expect_right("gemm_tiled", "300,260,200", "PRODUCERS == 4 and SPLIT == 0");
  family_->expect_right("gemm_tiled", "301,261,203,TRANS_B=1", "PRODUCERS == 4 and K_GROUPS == 2");
  family_->expect_right("gemm_tiled", "200,130,1902,ALIGN=2", "PRODUCERS == 4 and SPLIT_K > 1");
}

}  // namespace
}  // namespace tuner
