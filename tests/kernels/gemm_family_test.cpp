// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/gemm.json in every layout, at any alignment, in batches, with split-K
// over blocks and warps: correct at the size and at the awkward sizes that verification adds.
#include "kernel_family.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"
#include "tuner/core/error.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner {
namespace {

class GemmFamilyTest : public testing::Test {
 protected:
  // Of small tiles, which take the time that a test may.
  static constexpr std::string_view kSmallTiles = "TILE_M*TILE_N <= 4096 and THREADS <= 128";
  static constexpr std::string_view kSmallBlocks = "BLOCK_E <= 512 and CHUNK <= 1024";

  void expect_tiled(std::string_view size, std::string_view condition) {
    family_.expect_part_right("gemm_tiled", size, fmt::format("{} and {}", kSmallTiles, condition));
  }

  void expect_skinny(std::string_view size, std::string_view condition) {
    family_.expect_part_right("gemm_skinny", size,
                              fmt::format("{} and {}", kSmallBlocks, condition));
  }

  void expect_cpu(std::string_view name, std::string_view size,
                  const std::string& condition = "M > 0") {
    family_.expect_right(name, size, condition);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "gemm"};
};

TEST_F(GemmFamilyTest, TilesAreRightInEveryLayoutWithEveryCopyMethod) {
  expect_tiled("72,80,96", "COPY == 1 and TRANSPOSE == 0");
  expect_tiled("72,80,96,TRANS_A=1", "COPY == 0 and STAGES == 2");
  expect_tiled("72,80,96,TRANS_B=1", "COPY == 1 and TRANSPOSE == 1 and FRAGMENTS == 1");
  expect_tiled("72,80,96,TRANS_B=1", "COPY == 0 and TRANSPOSE == 2 and STAGES == 6");
  expect_tiled("72,80,96,TRANS_A=1,TRANS_B=1", "COPY == 1 and TRANSPOSE == 2");
}

TEST_F(GemmFamilyTest, TilesAreRightAtAnyAlignmentAndLeadingDimension) {
  expect_tiled("70,66,50,LDA=53,LDB=67,LDC=71,ALIGN=1", "COPY == 1 and TRANSPOSE == 0");
  expect_tiled("70,66,50,LDA=54,LDB=70,LDC=66,ALIGN=2", "COPY == 0 and TRANSPOSE == 1");
  expect_tiled("70,66,50,TRANS_A=1,TRANS_B=1,LDA=72,LDB=52,LDC=68", "TRANSPOSE == 2");
  expect_tiled("33,67,45,TRANS_A=1,ALIGN=2", "COPY == 1");
  expect_tiled("5,3,7,LDC=4", "COPY == 1");
}

TEST_F(GemmFamilyTest, TilesAreRightWithAStagedEpilogue) {
  expect_tiled("70,66,50,LDA=53,LDB=67,LDC=71,ALIGN=1", "STAGED_C == 1 and K_GROUPS == 1");
  expect_tiled("45,67,70,TRANS_B=1,LDC=72", "STAGED_C == 1 and K_GROUPS == 2 and TRANSPOSE == 0");
  expect_tiled("45,67,300,BATCH=2", "STAGED_C == 1 and SPLIT_K > 1 and TILE_K <= 32");
}

TEST_F(GemmFamilyTest, TilesAreRightInBatchesAndWithSplitK) {
  expect_tiled("40,48,300,BATCH=3", "SPLIT_K > 1 and K_GROUPS == 1 and TILE_K <= 32");
  expect_tiled("40,48,300,BATCH=2,TRANS_B=1", "SPLIT_K > 1 and K_GROUPS == 2 and TILE_K <= 32");
  expect_tiled("64,64,131,BATCH=2,LDB=65,ALIGN=1", "SPLIT_K == 1 and K_GROUPS == 2");
  expect_tiled("64,64,128,TRANS_A=1", "K_GROUPS == 4");
}

TEST_F(GemmFamilyTest, TilesAreRightWhereTheyAreAsNarrowAsTheMatrix) {
  expect_tiled("150,16,300", "TILE_N == 16 and LANES_M == 32 and TRANSPOSE == 0 and COPY == 1");
  expect_tiled("150,7,300,TRANS_B=1,LDB=301", "TILE_N == 8 and LANES_M == 32");
  expect_tiled("16,150,300", "TILE_M == 16 and LANES_M == 1 and SPLIT_K > 1 and TILE_K <= 32");
  expect_tiled("3,150,300,TRANS_A=1", "TILE_M == 4 and K_GROUPS == 2");
}

TEST_F(GemmFamilyTest, SkinnyKernelsAreRightInEveryLayout) {
  expect_skinny("1,260,300", "SPLIT_K == 1 and WARPS_K > 1");
  expect_skinny("260,1,300,TRANS_A=1", "SPLIT_K == 1 and WARPS > 1");
  expect_skinny("5,130,300,TRANS_B=1", "SPLIT_K == 1 and UNROLL > 1");
  expect_skinny("130,16,300", "SPLIT_K == 1 and VECTORS > 1");
  expect_skinny("1,260,300", "VEC_DIVISOR == 4 and WARPS_K == 16");
  expect_skinny("3,130,300", "SPLIT_K == 1 and STAGED_STEPS == 0");
  expect_skinny("11,130,300,TRANS_A=1,TRANS_B=1", "SPLIT_K == 1 and STAGED_STEPS > 1");
  expect_skinny("130,16,300", "VECTORS == 8 and WARPS_K == 8");  // more sums than lanes, in passes
  expect_skinny("130,2,300", "VECTORS == 8 and WARPS_K == 1");   // fewer
  expect_skinny("1,260,300", "PREFETCH == 0 and STAGED_STEPS == 0");
  expect_skinny("130,4,300", "PREFETCH == 0 and STAGED_STEPS > 1");
}

TEST_F(GemmFamilyTest, SkinnyKernelsAreRightAtAnyAlignmentInBatchesAndWithSplitK) {
  expect_skinny("3,77,1030,LDA=1031,LDB=79,LDC=77,ALIGN=1,BATCH=2", "SPLIT_K > 1");
  expect_skinny("77,8,1030,LDA=1030,LDB=9,LDC=10,ALIGN=2,BATCH=3", "SPLIT_K > 1");
  expect_skinny("77,2,1030,TRANS_A=1,TRANS_B=1,LDA=80,LDC=5", "SPLIT_K > 1 and WARPS_K > 1");
}

TEST_F(GemmFamilyTest, SimpleKernelsAreRightInBlocksBelowAWarpAndSquareTiles) {
  for (const std::string shape : {"BLOCK_X == 1 and BLOCK_Y == 1", "BLOCK_X == 4 and BLOCK_Y == 2"})
    family_.expect_right("gemm_naive", "13,11,17,LDA=19,LDB=12,LDC=14,BATCH=2", shape);
  for (const std::string tile : {"TILE == 4", "TILE == 8", "TILE == 16", "TILE == 32"})
    family_.expect_right("gemm_shared_square", "35,41,50,LDA=53,LDB=43,LDC=42,ALIGN=1,BATCH=2",
                         tile);
}

constexpr std::array<std::string_view, 4> kTypes = {"bf16", "f16", "f64", "s8"};

class TypedGemmTest : public GemmFamilyTest, public testing::WithParamInterface<std::string_view> {
 protected:
  using Case = std::pair<std::string, std::string>;  ///< a size without its type, a condition

  /// The type's part of the cases of a kernel.
  [[nodiscard]] static std::vector<Case> part(const std::vector<Case>& cases) {
    const auto row = std::ranges::find(kTypes, GetParam()) - kTypes.begin();
    return testing_support::part(cases, static_cast<std::size_t>(row));
  }
};

TEST_P(TypedGemmTest, IsRightInEveryKernel) {
  const std::string type = fmt::format(",TYPE={}", GetParam());
  family_.expect_right("gemm_naive", "13,11,17,TRANS_B=1,LDA=19,LDC=14,BATCH=2" + type,
                       "BLOCK_X == 4 and BLOCK_Y == 2");
  for (const auto& [size, condition] : part({{"70,66,50", "VEC == 2 and THREADS == 64"},
                                             {"70,66,50,LDB=67", "VEC == 1 and PAD == 1"}})) {
    family_.expect_right("gemm_shared", size + type, condition);
  }
  for (const auto& [size, condition] :
       part({{"72,80,96", "COPY == 1 and TRANSPOSE == 0 and K_GROUPS == 1"},
             {"72,80,96,TRANS_A=1", "K_GROUPS == 2 and STAGES == 2"},
             {"72,80,96,TRANS_B=1", "COPY == 1 and TRANSPOSE == 1 and FRAGMENTS == 1"},
             {"70,66,50,LDA=53,LDB=67,LDC=71,ALIGN=2", "STAGED_C == 1 and COPY == 1"},
             {"40,48,300,BATCH=2,TRANS_A=1,TRANS_B=1", "SPLIT_K > 1 and TILE_K <= 32"}})) {
    family_.expect_right("gemm_tiled", size + type,
                         fmt::format("{} and {}", kSmallTiles, condition));
  }
  for (const auto& [size, condition] :
       part({{"1,260,300", "SPLIT_K == 1 and STAGED_STEPS == 0"},
             {"130,16,300", "SPLIT_K == 1 and STAGED_STEPS > 0 and PREFETCH == 1"},
             {"5,130,300,TRANS_B=1", "SPLIT_K == 1 and UNROLL > 1"},
             {"3,77,1030,LDA=1031,LDB=79,LDC=77,ALIGN=2,BATCH=2", "SPLIT_K > 1"}})) {
    family_.expect_right("gemm_skinny", size + type,
                         fmt::format("{} and {}", kSmallBlocks, condition));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, TypedGemmTest, testing::ValuesIn(kTypes));

TEST_F(GemmFamilyTest, ShortTypesAreRightWhereMatricesBeginAtFourBytes) {
  for (const std::string type : {",TYPE=bf16", ",TYPE=s8"}) {
    expect_tiled("70,66,50,LDA=53,LDB=70,LDC=71,ALIGN=1" + type, "TRANSPOSE == 0");
    expect_tiled("70,66,52,LDB=68,LDC=68,ALIGN=1,TRANS_B=1" + type, "COPY == 1");
    expect_skinny("3,77,1030,LDB=78,ALIGN=1" + type, "SPLIT_K == 1");
  }
}

TEST_F(GemmFamilyTest, CpuKernelsAreRightWithPaddedRowsAndInBatches) {
  expect_cpu("gemm_cpu_naive", "20,24,31,TRANS_A=1,TRANS_B=1,LDA=23,BATCH=2");
  const std::string_view padded = "70,66,50,LDA=53,LDB=67,LDC=71,ALIGN=1,BATCH=2";
  expect_cpu("gemm_cpu_rows", padded);
  expect_cpu("gemm_cpu_tiled", padded, "TILE_M == 32 and TILE_N == 64 and TILE_K == 16");
  expect_cpu("gemm_cpu_tiled", padded, "TILE_M == 2 and TILE_N == 2 and TILE_K == 2");
  expect_cpu("gemm_cpu_threads", padded, "TILE_M == 4 and TILE_K == 32");
  expect_cpu("gemm_cpu_simd", padded, "STRIP == 24 and DEPTH == 64");
}

TEST_F(GemmFamilyTest, AConditionThatNoConfigurationMeetsFailsTheTest) {
  EXPECT_THROW(family_.expect_right("gemm_naive", "13,11,17", "BLOCK_X == 3"),
               std::invalid_argument);
}

/// The number of configurations on an H200, which this machine need not have, that keep these
/// parameters at one value: counting all takes a second at each size.
std::uint64_t configurations_on_h200(const family::Kernel& kernel, const space::Size& size) {
  space::SpaceDefinition definition = *kernel.space;
  for (const auto& [parameter, value] : {std::pair("THREAD_M", "8"),
                                         {"THREAD_N", "8"},
                                         {"UNROLL_K", "8"},
                                         {"FRAGMENTS", "1"},
                                         {"SPLIT", "0"},
                                         {"GROUP_M", "8"},
                                         {"MIN_BLOCKS", "1"}}) {
    space::restrict_parameter(definition, parameter, std::vector<std::string>{value});
  }
  return space::Space(std::make_shared<const space::SpaceDefinition>(std::move(definition)),
                      space::device_profile("h200").value().attributes, size)
      .size();
}

TEST(GemmSpaces, HaveAValidDefaultInEveryType) {
  const family::Family family = family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
  const space::DeviceAttributes h200 = space::device_profile("h200").value().attributes;
  for (const char* const type : {"f32", "bf16", "f16", "f64", "s8"}) {
    for (const char* const shape :
         {"300,264,204", "16,264,204", "300,9,205,TRANS_A=1", "301,263,205,TRANS_B=1,ALIGN=2"}) {
      for (const char* const name : {"gemm_naive", "gemm_shared", "gemm_tiled", "gemm_skinny"}) {
        const family::Kernel& kernel = family.kernel(name);
        const space::Size size =
            space::parse_size(fmt::format("{},TYPE={}", shape, type), family.problem.dims);
        const bool takes = (size[0] <= 16 || size[1] <= 16 || kernel.name != "gemm_skinny") &&
                           (size[4] + size[5] == 0 || kernel.name != "gemm_shared");
        const space::Space space(kernel.space, h200, size);
        const auto violation = space.violation(space.default_config());
        EXPECT_EQ(violation.has_value(), !takes) << name << " " << shape << " " << type << ": "
                                                 << (violation ? violation->message : "valid");
      }
    }
  }
}

TEST(GemmSpaces, RefuseAnAlignmentThatATypeCannotHave) {
  const family::Family family = family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
  try {
    static_cast<void>(space::parse_size("8,8,8,ALIGN=1,TYPE=f64", family.problem.dims));
    ADD_FAILURE() << "f64 at 4 bytes";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("matrices begin at whole elements"));
  }
}

TEST(GemmSpaces, HaveConfigurationsInEveryLayoutAtEveryMisalignmentOfRows) {
  const family::Family family = family::load_family(TUNER_SOURCE_DIR "/spaces/gemm.json");
  for (const char* const layout : {"", ",TRANS_A=1", ",TRANS_B=1", ",TRANS_A=1,TRANS_B=1"}) {
    for (const char* const align : {"", ",ALIGN=2", ",ALIGN=1"}) {
      for (int a = 0; a < 4; ++a) {
        for (int b = 0; b < 4; ++b) {
          const std::string text =
              fmt::format("300,264,204,LDA={},LDB={}{}{}", 300 + a, 264 + b, layout, align);
          const space::Size size = space::parse_size(text, family.problem.dims);
          for (const char* const kernel : {"gemm_tiled", "gemm_tma"}) {
            EXPECT_GT(configurations_on_h200(family.kernel(kernel), size), 0U)
                << kernel << " at " << text;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tuner
