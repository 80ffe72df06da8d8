// SPDX-License-Identifier: Apache-2.0
// The kernels of spaces/reduction.json: right at the size and at the awkward sizes that
// verification adds, whatever the alignment.
#include "kernel_family.hpp"
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/support/part.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner {
namespace {

class ReductionFamilyTest : public testing::Test {
 protected:
  /// Of blocks and steps that take the time that a test may.
  void expect_right(std::string_view size, const std::string& condition) {
    family_.expect_right("reduction_last_block", size,
                         "BLOCKS <= 2 and STEP <= 4096 and " + condition);
  }

 private:
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  KernelFamily family_{*backend_, "reduction"};
};

TEST_F(ReductionFamilyTest, OneBlockAddsUpWhatIsLittle) {
  expect_right("1", "BLOCK == 128");
  expect_right("1023", "BLOCK == 256 and UNROLL == 4");
}

TEST_F(ReductionFamilyTest, TheLastBlockAddsUpThePartsOfAll) {
  expect_right("100003", "BLOCK == 128 and UNROLL == 2 and not CHUNKED");
  expect_right("100003", "BLOCK == 128 and UNROLL == 4 and CHUNKED");
  expect_right("70000", "BLOCK == 1024 and UNROLL == 1 and BLOCKS == 1 and CHUNKED");
}

TEST_F(ReductionFamilyTest, EveryTypeIsAddedInItsSum) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"70001", "BLOCK == 128 and UNROLL == 2"}, {"50001,ALIGN=2", "BLOCK == 256 and CHUNKED"}};
  const std::array<std::string, 4> types = {",TYPE=bf16", ",TYPE=f16", ",TYPE=f64", ",TYPE=s8"};
  for (std::size_t row = 0; row < types.size(); ++row) {
    for (const auto& [size, condition] : testing_support::part(cases, row)) {
      expect_right(size + types[row], condition);
    }
  }
}

TEST_F(ReductionFamilyTest, AnyAlignmentIsRight) {
  expect_right("50001,ALIGN=1", "BLOCK == 128 and not CHUNKED");
  expect_right("50001,ALIGN=2", "BLOCK == 256 and CHUNKED");
}

}  // namespace
}  // namespace tuner
