// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/awkward_sizes.hpp"

#include "sample.hpp"

#include <gmock/gmock.h>

namespace tuner::family {
namespace {

using sample::altered;
using testing::ElementsAre;
using testing::IsEmpty;

/// The sample with a layout and a leading dimension; VEC, which stands in the entry, depends on it.
std::string layouts() {
  std::string text = altered(
      sample::kDocument, R"("dims": ["N"])",
      R"("dims": ["N", {"name": "TRANS", "values": [0, 1], "default": 0}, {"name": "LD", "default": "N"}])");
  text = altered(text, R"("SPARE": "BLOCK + 1")", R"("VEC": "LD % 4 == 0 ? 4 : 1")");
  return altered(text, "plain<${BLOCK},${SPAN}>", "plain<${BLOCK},${SPAN},${VEC}>");
}

AwkwardSizes sizes_of(const std::string& document, const space::Size& tuned) {
  const Family family = sample::parse(document);
  const Kernel& kernel = family.kernels.front();
  const space::Space space(kernel.space, {}, tuned);
  return awkward_sizes(family, kernel, space, space.default_config(), tuned);
}

TEST(AwkwardSizes, AreThoseOfTheFileAndOfTheConfiguration) {
  EXPECT_THAT(sizes_of(std::string(sample::kDocument), {1000}).sizes,
              ElementsAre(space::Size{1}, space::Size{31}, space::Size{129}));
}

TEST(AwkwardSizes, FollowTheTunedSize) {
  const std::string text = altered(sample::kDocument, R"("sizes": [[1], [31]])",
                                   R"("sizes": [["N // 2"], ["N - 1000"]])");
  EXPECT_THAT(sizes_of(text, {1000}).sizes, ElementsAre(space::Size{129}, space::Size{500}));
  EXPECT_EQ(sizes_of(text, {1000}).refused, 1U) << "0 is no size";
}

TEST(AwkwardSizes, AreOfTheTunedSizesKindAndElseDefault) {
  const std::string text = altered(layouts(), R"("sizes": [[1], [31]])",
                                   R"("sizes": [[4], {"N": 8, "TRANS": 0, "LD": 12}])");
  EXPECT_THAT(sizes_of(text, {1000, 1, 1004}).sizes,
              ElementsAre(space::Size{4, 1, 4}, space::Size{8, 0, 12}));
}

TEST(AwkwardSizes, LeaveOutThoseThatAreOtherCode) {
  const AwkwardSizes vectors = sizes_of(layouts(), {1000, 0, 1000});
  EXPECT_THAT(vectors.sizes, IsEmpty()) << "1, 31 and 129 are no multiples of 4";
  EXPECT_EQ(vectors.of_other_code, 3U);
  const AwkwardSizes scalars = sizes_of(layouts(), {1000, 0, 1001});
  EXPECT_THAT(scalars.sizes,
              ElementsAre(space::Size{1, 0, 1}, space::Size{31, 0, 31}, space::Size{129, 0, 129}));
  EXPECT_EQ(scalars.of_other_code, 0U);
}

TEST(AwkwardSizes, LeaveOutWhatAConstraintRefuses) {
  std::string text = altered(sample::kDocument, "SPAN <= 128", "SPAN <= 128 and N != 31");
  EXPECT_THAT(sizes_of(text, {1000}).sizes, ElementsAre(space::Size{1}, space::Size{129}));
  text = altered(sample::kDocument, R"("dims": ["N"])",
                 R"("dims": ["N"], "constraints": [{"expr": "N != 31", "why": "w"}])");
  EXPECT_THAT(sizes_of(text, {1000}).sizes, ElementsAre(space::Size{1}, space::Size{129}));
  EXPECT_EQ(sizes_of(text, {1000}).refused, 1U);
}

TEST(CheckSizes, MistakesNameTheirPlace) {
  const auto error = [](std::string_view from, std::string_view to) {
    return sample::usage_error([&] { return sample::parse(altered(layouts(), from, to)); });
  };
  EXPECT_EQ(error("[[1], [31]]", "[[0]]"),
            "axpy.json: check.sizes[0][0]: N = 0 is not in 1 … 2147483647");
  EXPECT_EQ(error("[[1], [31]]", R"([{"TRANS": 1}])"), "axpy.json: check.sizes[0]: N is missing");
  EXPECT_EQ(error("[[1], [31]]", R"([{"N": 1, "TRANS": 2}])"),
            "axpy.json: check.sizes[0].TRANS: TRANS = 2 is none of 0, 1");
  EXPECT_EQ(error("[[1], [31]]", R"([{"N": 1, "TRAN": 1}])"),
            "axpy.json: check.sizes[0]: no dimension is named \"TRAN\" (did you mean 'TRANS'?)");
  EXPECT_EQ(error("[[1], [31]]", "[[1, 1]]"),
            "axpy.json: check.sizes[0]: must have exactly 1 number (N), has 2; to set TRANS, LD "
            "too, write an object with the names");
}

}  // namespace
}  // namespace tuner::family
