// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/window_square.json: right at the size and at the awkward sizes that
// verification adds, and equal to what a BLAS makes of all windows.
#include "tests/support/cached_cpu_backend.hpp"
#include "window_products.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace tuner {
namespace {

class WindowSquareFamilyTest : public testing::Test {
 protected:
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "window_square"};
};

TEST_F(WindowSquareFamilyTest, AtomicsInGlobalMemoryAreRight) {
  family_.expect_right("window_square_atomic", "15,15", "BLOCK_X == 16 and BLOCK_Y == 16");
  family_.expect_right("window_square_atomic", "31,33,WINDOW=15", "BLOCK_X == 8 and BLOCK_Y == 4");
}

TEST_F(WindowSquareFamilyTest, AtomicsInSharedMemoryAreRight) {
  family_.expect_right("window_square_shared", "15,15", "BLOCK_X == 16 and BLOCK_Y == 16");
  family_.expect_right("window_square_shared", "37,41", "BLOCK_X == 8 and OUT_ROWS == 16");
}

TEST_F(WindowSquareFamilyTest, GatheredSumsAreRightInsideAndAtTheEdges) {
  const std::string small = "THREADS <= 64 and OUT_ROWS*OUT_COLUMNS <= 1024 and ";
  family_.expect_right("window_square_gather", "40,44",
                       small + "SHARED == 0 and TILE_X == 4 and TILE_Y == 4 and VEC == 4");
  family_.expect_right("window_square_gather", "39,41",
                       small + "SHARED == 1 and TILE_X == 8 and TILE_Y == 1");
  family_.expect_right("window_square_gather", "61,62,WINDOW=2",
                       small + "SHARED == 1 and TILE_X == 2 and TILE_Y == 2");
}

TEST_F(WindowSquareFamilyTest, EveryKernelComputesWhatABlasMakesOfAllWindows) {
  WindowSquares squares(*backend_);
  for (const int window : {5, 8}) {
    const Image dark = image(33, 47);
    const std::vector<std::uint16_t> expected = squares.by_blas(dark, window);
    EXPECT_THAT(expected, testing::Contains(65535));
    EXPECT_THAT(expected, testing::Contains(testing::AllOf(testing::Gt(1000), testing::Lt(65535))));
    for (const auto& [kernel, condition] : std::vector<std::pair<std::string_view, std::string>>{
             {"window_square_plain", "1"},
             {"window_square_atomic", "THREADS == 128"},
             {"window_square_shared", "OUT_ROWS*BLOCK_X == 256"},
             {"window_square_gather", "SHARED == 0 and TILE_X == 2 and TILE_Y == 4"},
             {"window_square_gather", "SHARED == 1 and TILE_X == 4 and TILE_Y == 1"}}) {
      EXPECT_EQ(squares.by_kernel(kernel, condition, dark, window), expected)
          << kernel << " where " << condition << ", windows of " << window;
    }
  }
}

}  // namespace
}  // namespace tuner
