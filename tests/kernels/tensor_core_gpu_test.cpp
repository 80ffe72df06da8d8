// SPDX-License-Identifier: Apache-2.0
// The kernel for tensor cores is right with what the host does not have: clusters.
#include "kernel_family.hpp"
#include "tests/backend/cuda_fixture.hpp"

namespace tuner {
namespace {

class TensorCoreGpuTest : public backend::TensorMapTest {
 protected:
  void SetUp() override {
    backend::TensorMapTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (backend().device().attributes.compute_capability != 90) {
      GTEST_SKIP() << backend().device().name << " has no wgmma";
    }
  }
};

TEST_F(TensorCoreGpuTest, ClustersShareOperandsInEveryLayout) {
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    const std::string size = std::string("1000,1048,1104") + layout;
    for (const char* const condition :
         {"CLUSTER_M == 2 and CLUSTER_N == 1 and PING_PONG == 0",
          "CLUSTER_M == 1 and CLUSTER_N == 4",
          "CLUSTER_M == 2 and CLUSTER_N == 2 and PING_PONG == 1",
          "CLUSTER_M == 2 and CLUSTER_N == 2 and SPLIT_K > 1 and PERSISTENT == 1",
          "CLUSTER_M == 4 and SWAP == 1 and TILE_N == 16"}) {
      family.expect_right("gemm_wgmma", size, condition);
    }
  }
}

}  // namespace
}  // namespace tuner
