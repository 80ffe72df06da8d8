// SPDX-License-Identifier: Apache-2.0
// The kernel for tensor memory on the host: right in every layout and type, and every mistake in
// its pipeline, its descriptors and its use of tensor memory is found.
#include "kernel_family.hpp"
#include "kernel_mistakes.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace tuner {
namespace {

class GemmTcgen05Test : public testing::Test {
 protected:
  void expect_right(std::string_view size, const std::string& condition) {
    family_.expect_right("gemm_tcgen05", size, "MIN_BLOCKS == 1 and " + condition);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "gemm_tensor"};
};

TEST_F(GemmTcgen05Test, TilesAreRightInEveryLayout) {
  expect_right("72,80,136", "TILE_M == 64 and TILE_N == 64 and STAGES == 2");
  expect_right("200,80,136,TRANS_A=1,TYPE=f16",
               "TILE_M == 128 and TILE_N == 48 and STAGES == 3 and BUFFERS == 2");
  expect_right("72,80,264,TRANS_B=1", "TILE_M == 64 and TILE_N == 24 and TILE_K == 128 and STAGES == 2");
  expect_right("136,72,136,TRANS_A=1,TRANS_B=1,BATCH=2",
               "TILE_M == 256 and TILE_N == 32 and STAGES == 2 and SWAP == 0");
}

TEST_F(GemmTcgen05Test, TilesAreRightInEveryType) {
  expect_right("72,80,72,TRANS_B=1,TYPE=tf32", "TILE_M == 128 and TILE_N == 32 and STAGES == 2");
  expect_right("72,80,272,TRANS_B=1,TYPE=e4m3_fast", "TILE_M == 64 and TILE_N == 80 and STAGES == 2");
  expect_right("72,80,272,TRANS_B=1,TYPE=s8", "TILE_M == 64 and TILE_N == 24 and STAGES == 3");
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

}  // namespace
}  // namespace tuner
