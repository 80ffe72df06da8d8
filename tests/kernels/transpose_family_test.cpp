// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/transpose.json and spaces/copy.json: right at the size and at the awkward
// sizes that verification adds, whatever the alignment.
#include "kernel_family.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {
namespace {

class TransposeFamilyTest : public testing::Test {
 protected:
  void expect_transposed(std::string_view kernel, std::string_view size, std::string condition) {
    transpose_.expect_right(kernel, size, std::move(condition));
  }
  void expect_copied(std::string_view kernel, std::string_view size, std::string condition) {
    copy_.expect_right(kernel, size, std::move(condition));
  }

 private:
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily transpose_{*backend_, "transpose"};
  KernelFamily copy_{*backend_, "copy"};
};

TEST_F(TransposeFamilyTest, AnElementAThreadIsRightByRowsAndByColumns) {
  expect_transposed("transpose_naive_row", "67,45", "BLOCK_X == 32 and BLOCK_Y == 2");
  expect_transposed("transpose_naive_row", "3,300", "BLOCK_X == 1 and BLOCK_Y == 64");
  expect_transposed("transpose_naive_col", "67,45", "BLOCK_X == 32 and BLOCK_Y == 2");
  expect_transposed("transpose_naive_col", "300,3", "BLOCK_X == 64 and BLOCK_Y == 1");
}

TEST_F(TransposeFamilyTest, SeveralElementsAThreadAreRightWhereTheLastOnesDoNotExist) {
  expect_transposed("transpose_unroll_row", "261,45", "BLOCK_X == 32 and UNROLL == 4");
  expect_transposed("transpose_unroll_row", "67,64", "BLOCK_X == 8 and UNROLL == 16");
  expect_transposed("transpose_unroll_col", "45,261", "BLOCK_X == 32 and UNROLL == 4");
  expect_transposed("transpose_unroll_col", "64,67", "BLOCK_X == 8 and UNROLL == 16");
}

TEST_F(TransposeFamilyTest, BlocksOnDiagonalsTakeEveryTileOnceInRectanglesToo) {
  for (const std::string way : {"BY_ROWS == 0", "BY_ROWS == 1"}) {
    expect_transposed("transpose_diagonal", "200,90", way + " and BLOCK_X == 16 and BLOCK_Y == 4");
    expect_transposed("transpose_diagonal", "90,200", way + " and BLOCK_X == 8 and BLOCK_Y == 8");
  }
}

TEST_F(TransposeFamilyTest, SharedTilesAreRightOfAnyShapePaddedOrNot) {
  expect_transposed("transpose_shared", "67,45", "BLOCK_X == 8 and BLOCK_Y == 32 and PAD == 0");
  expect_transposed("transpose_shared", "300,45", "BLOCK_X == 256 and BLOCK_Y == 1 and PAD == 1");
  expect_transposed("transpose_shared", "131,45", "BLOCK_X == 32 and UNROLL == 4 and DYNAMIC");
  expect_transposed("transpose_shared", "131,45", "BLOCK_X == 16 and UNROLL == 2 and PAD == 2");
}

TEST_F(TransposeFamilyTest, TilesAreRightWhateverTheRowsLengthsAndTheAlignment) {
  const std::string small = "TILE_X*TILE_Y <= 4096 and ";
  expect_transposed("transpose_tiled", "132,100", small + "THREADS == 256 and BAND == 1");
  expect_transposed("transpose_tiled", "131,101", small + "THREADS == 128 and BAND == 0");
  expect_transposed("transpose_tiled", "132,101", small + "THREADS == 64 and BAND == 2");
  expect_transposed("transpose_tiled", "101,132", small + "TILE_X < TILE_Y and BAND == 4");
  expect_transposed("transpose_tiled", "102,98", small + "TILE_X > TILE_Y and DIAGONAL");
  expect_transposed("transpose_tiled", "132,100,ALIGN=1", small + "BAND == 16 and DIAGONAL");
  expect_transposed("transpose_tiled", "132,100,ALIGN=2", small + "BAND == 8");
}

TEST_F(TransposeFamilyTest, ElementsOfEverySizeAreMoved) {
  const std::string small = "TILE_X*TILE_Y <= 4096 and ";
  struct Case {
    std::string kernel, size, condition;
  };
  const std::vector<Case> tiled = {
      {"transpose_tiled", "144,112", small + "THREADS == 64"},
      {"transpose_tiled", "131,101", small + "THREADS == 128 and BAND == 0"},
      {"transpose_tiled", "132,102,ALIGN=2", small + "DIAGONAL"},
      {"transpose_tiled", "131,301", "TILE_X*TILE_Y <= 8192 and STORE_ALIGN == 8"}};
  const std::vector<Case> others = {
      {"transpose_shared", "67,45", "BLOCK_X == 8 and PAD == 1 and DYNAMIC"},
      {"transpose_naive_row", "67,45", "BLOCK_X == 32"},
      {"transpose_naive_col", "67,45", "BLOCK_X == 32"},
      {"transpose_unroll_row", "67,45", "BLOCK_X == 8"},
      {"transpose_unroll_col", "67,45", "BLOCK_X == 8"},
      {"transpose_diagonal", "67,45", "BLOCK_X == 16"}};
  const std::vector<Case> copies = {{"copy_row", "144,45", "UNROLL == 2 and BLOCK_X == 32"},
                                    {"copy_row", "67,45,ALIGN=2", "UNROLL == 2 and BLOCK_X == 16"},
                                    {"copy_col", "67,45", "UNROLL == 2 and BLOCK_X == 32"}};
  const std::array<std::string, 3> types = {",TYPE=f64", ",TYPE=u16", ",TYPE=u8"};
  for (std::size_t row = 0; row < types.size(); ++row) {
    for (const auto* const cases : {&tiled, &others}) {
      for (const auto& [kernel, size, condition] : testing_support::part(*cases, row)) {
        expect_transposed(kernel, size + types[row], condition);
      }
    }
    for (const auto& [kernel, size, condition] : testing_support::part(copies, row)) {
      expect_copied(kernel, size + types[row], condition);
    }
  }
}

TEST_F(TransposeFamilyTest, TilesThatShareRowsStoreEveryElementOfRowsThatBeginAnywhere) {
  const std::string sharing = "TILE_X*TILE_Y <= 8192 and STORE_ALIGN == 8 and ";
  expect_transposed("transpose_tiled", "131,101", sharing + "TILE_Y == 32");
  expect_transposed("transpose_tiled", "132,211", sharing + "TILE_Y == 64");
  expect_transposed("transpose_tiled", "67,390", sharing + "TILE_Y == 128");
  expect_transposed("transpose_tiled", "67,300", sharing + "TILE_Y == 64 and DIAGONAL");
  expect_transposed("transpose_tiled", "64,256,ALIGN=1", sharing + "BAND == 0");
  expect_transposed("transpose_tiled", "64,256,ALIGN=1", sharing + "TILE_Y == 128");
  expect_transposed("transpose_tiled", "64,256,ALIGN=2", sharing + "BAND == 2");
  expect_transposed("transpose_tiled", "40,3,ALIGN=1", sharing + "TILE_Y == 32");
}

TEST_F(TransposeFamilyTest, TilesAreRightWhereThreadsAreFewerThanARowHasVectors) {
  expect_transposed("transpose_tiled", "261,70", "TILE_X == 128 and THREADS == 64");
  expect_transposed("transpose_tiled", "70,261", "TILE_Y == 128 and THREADS == 64");
  expect_transposed("transpose_tiled", "5,300", "TILE_X == 8 and TILE_Y == 32");
}

TEST_F(TransposeFamilyTest, TilesAreRightThatAreAsNarrowAsTheMatrix) {
  expect_transposed("transpose_tiled", "3,700", "TILE_X == 4 and TILE_Y == 256");
  expect_transposed("transpose_tiled", "700,3", "TILE_X == 256 and TILE_Y == 4");
  expect_transposed("transpose_tiled", "700,7", "TILE_X == 256 and TILE_Y == 8");
  expect_transposed("transpose_tiled", "700,16", "TILE_X == 128 and TILE_Y == 16");
}

TEST_F(TransposeFamilyTest, CopiesAreRightByRowsAndByColumns) {
  expect_copied("copy_row", "132,45", "BLOCK_X == 16 and UNROLL == 4");
  expect_copied("copy_row", "133,45", "BLOCK_X == 32 and UNROLL == 2");
  expect_copied("copy_row", "132,45,ALIGN=2", "BLOCK_X == 8 and UNROLL == 8");
  expect_copied("copy_col", "67,131", "BLOCK_X == 32 and UNROLL == 2");
  expect_copied("copy_col", "5,131", "BLOCK_X == 64 and UNROLL == 1");
}

}  // namespace
}  // namespace tuner
