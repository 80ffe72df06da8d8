// SPDX-License-Identifier: Apache-2.0
// What the kernels of spaces/reduction.json do on GPUs alone: blocks that run at the same time.
#include "kernel_family.hpp"
#include "tests/backend/cuda_fixture.hpp"

#include <string>

namespace tuner {
namespace {

using ReductionGpuTest = backend::CudaTest;

TEST_F(ReductionGpuTest, TheLastOfManyBlocksAddsUpThePartsOfAll) {
  KernelFamily family(backend(), "reduction");
  for (const std::string load : {"LOAD == 0", "LOAD == 1", "LOAD == 2", "LOAD == 3"}) {
    family.expect_right("reduction_last_block", "10000019", load + " and BLOCKS >= 8");
    family.expect_right("reduction_last_block", "10000019,ALIGN=1", load + " and BLOCKS == 1");
    family.expect_right("reduction_last_block", "10000018,ALIGN=2", load + " and CHUNKED");
  }
}

}  // namespace
}  // namespace tuner
