// SPDX-License-Identifier: Apache-2.0
// The wrappers for tensor cores do on a GPU what their host versions do, and the kernel is right
// with what the host does not have: clusters.
#include "kernel_family.hpp"
#include "mma_probes.hpp"
#include "tensor_core_probes.hpp"
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

TEST_F(TensorCoreGpuTest, CopiesOfBoxesAreSwizzledWithZerosOutsideOfTheTensor) {
  TensorCoreProbes probes(backend());
  probes.expect_copy(0, 0, 0, 8);
  probes.expect_copy(32, 5, 1, 16);
  probes.expect_copy(-8, -2, 1, 8);
  probes.expect_copy(72, 3, 0, 8);
}

TEST_F(TensorCoreGpuTest, DescriptorsHaveTheBitsThatTheInstructionReads) {
  TensorCoreProbes(backend()).expect_descriptors();
}

TEST_F(TensorCoreGpuTest, ProductsReadOperandsOfEitherOrderInSharedMemory) {
  TensorCoreProbes(backend()).expect_products();
}

TEST_F(TensorCoreGpuTest, SkinnyProductsAreRight) {
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const condition :
       {"SPLIT == 0 and TILES == 1", "SPLIT_K > 1 and TILES == 2", "TILES == 4 and WARPS_K == 8"}) {
    family.expect_right("gemm_skinny_mma", "8,1048,4096,TRANS_B=1", condition);
    family.expect_right("gemm_skinny_mma", "1000,24,1104,TRANS_B=1,TYPE=f16", condition);
  }
}

TEST_F(TensorCoreGpuTest, SkinnyProductsOfBulkCopiesAreRight) {
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const condition :
       {"DIVIDE == 1 and WARPS >= 8", "CLUSTER == 2 and TILES == 2", "CLUSTER == 4 and GROUPS == 2",
        "CLUSTER == 8 and MIN_BLOCKS == 2 and WARPS == 4"}) {
    family.expect_right("gemm_skinny_bulk", "8,1051,4104,TRANS_B=1", condition);
    family.expect_right("gemm_skinny_bulk", "1000,24,1104,TRANS_B=1,TYPE=f16", condition);
    family.expect_right("gemm_skinny_bulk", "3,1056,4112,TRANS_B=1,TYPE=s8,BATCH=2", condition);
  }
}

TEST_F(TensorCoreGpuTest, BlocksOfAClusterSendTheirSumsToThoseThatStoreThem) {
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    const std::string size = std::string("200,328,2128") + layout;
    // Some have blocks that store less than others, or nothing.
    for (const char* const condition :
         {"DIVIDE == 1 and CONSUMERS == 2", "DIVIDE == 2 and TILE_N == 64 and TILE_M == 128",
          "DIVIDE == 8 and TILE_N == 64 and MIN_BLOCKS == 2", "DIVIDE == 7 and SWAP == 1",
          "DIVIDE == 5 and TILE_N == 48", "DIVIDE == 6 and TILE_N == 16",
          "DIVIDE == 3 and TILE_N == 64 and TILE_M == 64 and CONSUMERS == 1",
          "DIVIDE == 7 and TILE_N == 128 and TILE_M == 64"}) {
      family.expect_right("gemm_few_tiles", size, condition);
    }
  }
  for (const char* const type : {"tf32", "e4m3", "e4m3_fast", "s8", "bf16,BIAS=1,ACTIVATION=2",
                                 "f16,BIAS=2,ACTIVATION=1,RESIDUAL=1"}) {
    const std::string size = std::string("200,336,2128,TRANS_B=1,BATCH=2,TYPE=") + type;
    for (const char* const condition : {"DIVIDE == 1", "DIVIDE == 4 and TILE_N == 64",
                                        "DIVIDE == 3 and TILE_N == 32 and CONSUMERS == 1"}) {
      family.expect_right("gemm_few_tiles", size, condition);
    }
  }
}

TEST_F(TensorCoreGpuTest, OperandsOf8And32BitsAndEpiloguesAreRight) {
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const type : {"tf32", "e4m3", "e4m3_fast", "s8", "bf16,BIAS=1,ACTIVATION=2",
                                 "f16,BIAS=2,ACTIVATION=1,RESIDUAL=1"}) {
    const std::string size = std::string(",TRANS_B=1,TYPE=") + type;
    for (const char* const condition :
         {"CLUSTER_M == 2 and CLUSTER_N == 1 and PING_PONG == 0 and SPLIT == 0 and STREAM == 0",
          "CLUSTER == 1 and SPLIT_K > 1 and SPLIT > 0", "STORE_BUFFERS == 2 and TILE_N == 128",
          "CLUSTER_K == 4 and SPLIT == 0 and TILE_N == 64"}) {
      family.expect_right("gemm_wgmma", "1000,1056,2128" + size, condition);
    }
    if (std::string_view(type) == "tf32") continue;
    family.expect_right("gemm_skinny_mma", "8,1056,4096" + size, "SPLIT == 0 and TILES == 2");
    family.expect_right("gemm_skinny_bulk", "8,1056,4096" + size, "CLUSTER == 2 and TILES == 2");
  }
}

TEST_F(TensorCoreGpuTest, ClustersShareOperandsInEveryLayout) {
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    const std::string size = std::string("1000,1048,2128") + layout;
    for (const char* const condition :
         {"CLUSTER_M == 2 and CLUSTER_N == 1 and PING_PONG == 0 and SPLIT == 0 and STREAM == 0",
          "CLUSTER_M == 1 and CLUSTER_N == 4 and SPLIT == 0 and STREAM == 0",
          "CLUSTER_M == 2 and CLUSTER_N == 1 and STORE_BUFFERS == 2 and TILE_N == 256",
          "CLUSTER_M == 2 and CLUSTER_N == 2 and SPLIT_K > 1 and SPLIT > 0 and TILE_K == 64",
          "CLUSTER_K == 4 and SPLIT == 0 and TILE_N == 64 and CONSUMERS == 2",
          "CLUSTER_K == 8 and SPLIT == 0 and TILE_N == 128 and SWAP == 1",
          "CLUSTER_K == 2 and SPLIT_K > 1 and SPLIT > 0 and TILE_K == 64"}) {
      family.expect_right("gemm_wgmma", size, condition);
    }
  }
}

/// On any card with cp.async.
class MmaGpuTest : public backend::CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (backend().device().attributes.compute_capability < 80) {
      GTEST_SKIP() << backend().device().name << " has no cp.async";
    }
  }
  [[nodiscard]] bool has_e4m3() { return backend().device().attributes.compute_capability >= 89; }
};

TEST_F(MmaGpuTest, InstructionsReadAndComputeWhatTheirHostVersionsDo) {
  MmaProbes(backend()).expect_matrices();
  MmaProbes(backend()).expect_multiplies_tf32();
}

// One test per element type: each compiles some sixteen kernels.
class MmaGpuTypeTest : public MmaGpuTest, public testing::WithParamInterface<const char*> {};

TEST_P(MmaGpuTypeTest, ProductsAreRightInEveryLayout) {
  const std::string type = GetParam();
  if (type.starts_with("e4m3") && !has_e4m3()) GTEST_SKIP() << "no instruction for e4m3";
  KernelFamily family(backend(), "gemm_tensor");
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    const std::string what = layout + (",TYPE=" + type);
    family.expect_right("gemm_mma", "200,336,2128,BATCH=2" + what, "SPLIT == 0 and STREAM == 0");
    family.expect_right("gemm_mma", "200,336,2128" + what, "SPLIT_K > 1 and SPLIT > 0");
    if (type != "e4m3") family.expect_right("gemm_mma", "1000,1056,2128" + what, "STREAM > 0");
    family.expect_right("gemm_mma", "201,331,523" + what, "SPLIT == 0 and STREAM == 0");
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MmaGpuTypeTest,
                         testing::Values("bf16", "f16,BIAS=2,ACTIVATION=1,RESIDUAL=1",
                                         "bf16_f32,BIAS=1,ACTIVATION=2", "tf32", "s8", "e4m3",
                                         "e4m3_fast"));

}  // namespace
}  // namespace tuner
