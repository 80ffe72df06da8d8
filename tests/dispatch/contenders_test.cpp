// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/contenders.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tuner::dispatch {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

/// Kernels in the order of their expected times, then the library.
select::Ranking ranking(std::size_t kernels, std::size_t members) {
  select::Ranking result;
  result.members = members;
  for (std::size_t i = 0; i < kernels; ++i) {
    result.answers.emplace_back().kernel = std::make_shared<store::KernelRecord>();
    result.answers.back().config_json = fmt::format("{}", i);
  }
  result.answers.emplace_back().rung = Rung::library;
  return result;
}

TEST(ContendersTest, TheLibraryIsFirstThenKernelsAndAlgorithmsByTurns) {
  std::vector<std::string> names;
  for (const select::Selection& it : contenders(ranking(2, 0), {{"x", "y", "z"}})) {
    names.push_back(it.config_json + it.library_algorithm);
  }
  EXPECT_THAT(names, ElementsAre("", "0", "x", "1", "y", "z"));
}

TEST(ContendersTest, OfManyKernelsThoseThatAreExpectedToBeFastestTakePart) {
  EXPECT_THAT(contenders(ranking(40, 0), {}), SizeIs(1 + 8)) << "without a portfolio";
  EXPECT_THAT(contenders(ranking(12, 12), {}), SizeIs(1 + 12)) << "all members";
  const std::vector<select::Selection> of_many = contenders(ranking(40, 40), {});
  ASSERT_THAT(of_many, SizeIs(1 + 16));
  EXPECT_EQ(of_many.back().config_json, "15");
}

}  // namespace
}  // namespace tuner::dispatch
