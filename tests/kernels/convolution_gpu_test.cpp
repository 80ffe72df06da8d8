// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/convolution.json where GPUs differ from the cpu backend: asynchronous
// copies (cp.async), and blocks with more shared memory than the default limit.
#include "kernel_family.hpp"
#include "tests/backend/cuda_fixture.hpp"

#include <string>

namespace tuner {
namespace {

using ConvolutionGpuTest = backend::CudaTest;

TEST_F(ConvolutionGpuTest, TilesAreRightWhereverRowsAreRead) {
  KernelFamily family(backend(), "convolution");
  for (const std::string input : {"INPUT == 0", "INPUT == 1", "INPUT == 2"}) {
    family.expect_right("convolution_tiled", "509,1022,15", input + " and TILE_X == 8");
    family.expect_right("convolution_tiled", "509,1024,17", input + " and VEC == 4");
    family.expect_right("convolution_tiled", "509,1021,3", input + " and UNROLL == 0");
  }
  family.expect_right("convolution_tiled", "509,1022,15", "SMEM > 49152");
}

TEST_F(ConvolutionGpuTest, CoefficientsAreRightFromConstantAndFromSharedMemory) {
  KernelFamily family(backend(), "convolution");
  for (const std::string filter : {"FILTER == 0", "FILTER == 1"}) {
    family.expect_right("convolution_tiled", "509,1022,9", filter + " and UNROLL == 0");
    family.expect_right("convolution_tiled", "509,1022,17", filter + " and UNROLL == 2");
  }
  family.expect_right("convolution_naive", "509,1022,17", "BLOCK_X == 16 and BLOCK_Y == 16");
}

}  // namespace
}  // namespace tuner
