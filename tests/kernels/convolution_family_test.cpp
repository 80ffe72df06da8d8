// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/convolution.json: right at the size and at the awkward sizes that
// verification adds, whatever the filter and wherever rows are read.
#include "kernel_family.hpp"
#include "tests/support/cached_cpu_backend.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace tuner {
namespace {

class ConvolutionFamilyTest : public testing::Test {
 protected:
  /// In blocks that take the time that a test may.
  void expect_tiled(std::string_view size, const std::string& condition) {
    family_.expect_part_right("convolution_tiled", size,
                              "THREADS <= 64 and OUT_ROWS*OUT_COLUMNS <= 1024 and " + condition);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "convolution"};
};

TEST_F(ConvolutionFamilyTest, AnElementAThreadIsRightWithEveryBlock) {
  family_.expect_right("convolution_naive", "33,29,3", "BLOCK_X == 16 and BLOCK_Y == 16");
  family_.expect_right("convolution_naive", "33,29,17", "BLOCK_X == 4 and BLOCK_Y == 8");
}

TEST_F(ConvolutionFamilyTest, TilesAreRightFromSharedMemoryAndThroughTheReadOnlyPath) {
  for (const std::string input : {"INPUT == 0", "INPUT == 1", "INPUT == 2"}) {
    expect_tiled("37,44,7", input + " and TILE_X == 4 and TILE_Y == 3 and UNROLL == 2");
    expect_tiled("37,43,5", input + " and TILE_X == 2 and TILE_Y == 2 and FILTER == 0");
  }
}

TEST_F(ConvolutionFamilyTest, CoefficientsAreRightFromConstantAndFromSharedMemory) {
  for (const std::string filter : {"FILTER == 0", "FILTER == 1"}) {
    expect_tiled("21,38,3", filter + " and UNROLL == 0 and TILE_Y == 5 and INPUT == 2");
    expect_tiled("21,38,9", filter + " and UNROLL == 0 and TILE_Y == 3 and INPUT == 2");
    expect_tiled("21,38,9", filter + " and UNROLL == 1 and TILE_Y == 3 and INPUT == 0");
    expect_tiled("21,38,17", filter + " and UNROLL == 3 and TILE_X == 4 and INPUT == 1");
  }
}

TEST_F(ConvolutionFamilyTest, TilesHigherThanTheFilterAreRightWithAndWithoutALoop) {
  expect_tiled("37,43,3", "TILE_Y == 8 and UNROLL == 0 and INPUT > 0");
  expect_tiled("37,43,3", "TILE_Y == 8 and UNROLL == 1 and INPUT > 0");
  expect_tiled("37,43,3", "TILE_Y == 5 and UNROLL == 1 and INPUT == 0");
}

TEST_F(ConvolutionFamilyTest, VectorsInSharedMemoryMayChangePlaces) {
  for (const std::string places : {"SWIZZLE == 0", "SWIZZLE == 1"}) {
    expect_tiled("21,140,15", places + " and TILE_X == 8 and BLOCK_X == 8 and INPUT == 2");
    expect_tiled("21,140,9", places + " and TILE_X == 16 and BLOCK_X == 8 and INPUT == 1");
  }
}

TEST_F(ConvolutionFamilyTest, WideAccessesAreRightWhereRowsAllowThem) {
  expect_tiled("21,72,5", "VEC == 4 and INPUT == 2 and TILE_X == 4");
  expect_tiled("21,72,5", "VEC == 4 and INPUT == 0 and TILE_X == 8");
  expect_tiled("21,70,15", "VEC == 2 and INPUT == 1 and TILE_X == 2");
  expect_tiled("21,70,15,ALIGN=2", "VEC == 2 and INPUT == 0 and TILE_X == 1");
  expect_tiled("21,72,5,ALIGN=1", "INPUT == 2 and TILE_X == 4");
}

}  // namespace
}  // namespace tuner
