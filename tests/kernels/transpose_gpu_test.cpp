// SPDX-License-Identifier: Apache-2.0
// What the kernels of spaces/transpose.json do on GPUs alone: tensor maps.
#include "kernel_family.hpp"
#include "tests/backend/cuda_fixture.hpp"

#include <optional>

namespace tuner {
namespace {

class TransposeGpuTest : public backend::TensorMapTest {
 protected:
  void SetUp() override {
    backend::TensorMapTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) family_.emplace(backend(), "transpose");
  }
  void TearDown() override { family_.reset(); }

  std::optional<KernelFamily> family_;
};

TEST_F(TransposeGpuTest, TensorMapsPrefetchTilesOfPersistentBlocks) {
  for (const std::string size : {"1300,1028", "1300,1027", "100,5000", "5000,101"}) {
    family_->expect_right("transpose_tma", size, "STAGES == 1 and not PERSISTENT");
    family_->expect_right("transpose_tma", size, "STAGES == 2 and TILE_X == 32 and BAND == 0");
    family_->expect_right("transpose_tma", size, "STAGES == 4 and TILE_X == 64 and BAND == 8");
    family_->expect_right("transpose_tma", size, "STAGES == 3 and TILE_Y == 128 and DIAGONAL");
  }
  family_->expect_right("transpose_tma", "4,1", "STAGES == 1 and PERSISTENT");
}

TEST_F(TransposeGpuTest, CacheHintsChangeNoResult) {
  for (const std::string hint : {"LOAD == 1", "LOAD == 2", "LOAD == 3", "STORE == 1"}) {
    family_->expect_right("transpose_tiled", "516,260", hint);
    family_->expect_right("transpose_tiled", "517,262", hint);
  }
}

}  // namespace
}  // namespace tuner
