// SPDX-License-Identifier: Apache-2.0
// What the kernels of spaces/window_square.json do on GPUs alone: blocks that run at the same time,
// and cuBLAS as their judge.
#include "tests/backend/cuda_fixture.hpp"
#include "window_products.hpp"

namespace tuner {
namespace {

using WindowSquareGpuTest = backend::CudaTest;

TEST_F(WindowSquareGpuTest, EveryKernelComputesWhatCublasMakesOfAllWindows) {
  WindowSquares squares(backend());
  const Image dark = image(117, 133);
  const std::vector<std::uint16_t> expected = squares.by_blas(dark, 5);
  EXPECT_THAT(expected, testing::Contains(65535));
  EXPECT_EQ(squares.by_kernel("window_square_plain", "1", dark, 5), expected);
  EXPECT_EQ(squares.by_kernel("window_square_atomic", "THREADS == 256", dark, 5), expected);
  EXPECT_EQ(squares.by_kernel("window_square_shared", "THREADS == 256", dark, 5), expected);
  EXPECT_EQ(squares.by_kernel("window_square_gather", "SHARED and TILE_X == 4", dark, 5), expected);
  EXPECT_EQ(squares.by_kernel("window_square_gather", "not SHARED and TILE_Y == 8", dark, 5),
            expected);
}

TEST_F(WindowSquareGpuTest, KernelsAreRightOfAnyWindow) {
  KernelFamily family(backend(), "window_square");
  for (const char* const size : {"333,517", "333,516,WINDOW=3", "333,517,WINDOW=15"}) {
    family.expect_right("window_square_atomic", size, "THREADS >= 128");
    family.expect_right("window_square_shared", size, "THREADS >= 128");
    family.expect_right("window_square_gather", size, "THREADS >= 128 and SHARED");
    family.expect_right("window_square_gather", size, "THREADS >= 128 and not SHARED");
  }
}

}  // namespace
}  // namespace tuner
