// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/candidate.hpp"

#include "sample.hpp"
#include "tuner/space/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;
using sample::usage_error;
using testing::ElementsAre;
using testing::HasSubstr;

/// A document's kernel with its space on an H200 at N = 1000.
class Candidate {
 public:
  explicit Candidate(std::string_view document = kDocument)
      : family_(sample::parse(document)),
        space_(kernel().space, space::device_profile("h200").value().attributes,
               space::Size{1000}) {}

  [[nodiscard]] const Kernel& kernel() const { return family_.kernel("plain"); }
  [[nodiscard]] space::Config config(std::string_view text) const {
    return space::config_from_text(space_.definition(), text);
  }
  [[nodiscard]] CompileJob job(std::string_view text = "") const {
    return compile_job(kernel(), space_, config(text));
  }
  [[nodiscard]] space::ExpressionValues expression_values(std::string_view text,
                                                          const space::Size& size) const {
    return values_at_size(kernel(), space_, config(text), size);
  }
  [[nodiscard]] Geometry geometry_of(std::string_view text,
                                     const space::Size& size = {1000}) const {
    return geometry(kernel(), 0, expression_values(text, size));
  }

 private:
  Family family_;
  space::Space space_;
};

TEST(CompileJob, PutsValuesIntoEntryAndOptions) {
  const CompileJob job = Candidate().job("BLOCK=128,UNROLL=1");
  EXPECT_THAT(job.entries, ElementsAre("plain<128,128>"));
  EXPECT_THAT(job.options, ElementsAre("-DCHECKED", "-std=c++17", "-DUNROLL=1"));
  EXPECT_EQ(job.source.text, "// a kernel");
}

TEST(CompileJob, WritesWordsAndBooleansAsTheUserWroteThem) {
  const Candidate candidate(
      altered(kDocument, "\"values\": [1, 2], \"default\": 2, \"kind\": \"define\"",
              "\"values\": [true, false], \"default\": true, \"kind\": \"define\""));
  EXPECT_EQ(candidate.job().options.back(), "-DUNROLL=true");
}

TEST(CompileKey, IsOneForAllValuesOfALaunchParameter) {
  const Candidate candidate;
  EXPECT_EQ(candidate.job("WAVES=1").key, candidate.job("WAVES=4").key);
}

TEST(CompileKey, TellsEverythingElseApart) {
  const Candidate candidate;
  const std::string key = candidate.job().key;
  EXPECT_NE(candidate.job("BLOCK=32").key, key);
  EXPECT_NE(candidate.job("BLOCK=32,UNROLL=1").key, candidate.job("BLOCK=32,UNROLL=2").key);
  EXPECT_NE(Candidate(altered(kDocument, "-DCHECKED", "-DCHECKED=1")).job().key, key);
  EXPECT_NE(Candidate(altered(kDocument, "plain<$", "::plain<$")).job().key, key);
}

constexpr std::string_view kTensorMaps = R"("tensor_maps": [
  {"name": "t", "buffer": "x", "offset": "2*N", "extents": ["N", 3], "strides": ["N + 24"],
   "box": ["BLOCK", 2], "swizzle": "2*BLOCK"}], "launch": {)";

TEST(TensorLayouts, AreOfTheConfigurationAndTheSize) {
  const Candidate candidate(altered(kDocument, "\"launch\": {", kTensorMaps));
  const auto layouts =
      tensor_layouts(candidate.kernel(), candidate.expression_values("BLOCK=32", {1000}));
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_EQ(layouts[0], (TensorLayout{.argument = 2,
                                      .type = ElementType::f32,
                                      .offset = 2000,
                                      .extents = {1000, 3},
                                      .strides = {1024},
                                      .box = {32, 2},
                                      .swizzle_bytes = 64}));
}

TEST(TensorLayouts, RefuseWhatNoTensorMapCanHave) {
  const auto refusal = [](std::string_view from, std::string_view to) {
    const Candidate candidate(altered(kDocument, "\"launch\": {", altered(kTensorMaps, from, to)));
    return usage_error([&] {
      static_cast<void>(
          tensor_layouts(candidate.kernel(), candidate.expression_values("", {1000})));
    });
  };
  EXPECT_EQ(refusal("\"BLOCK\"", "\"BLOCK*8\""),
            "kernel plain: tensor map t: box[0] = BLOCK*8 is 512, outside of 1 … 256");
  EXPECT_EQ(refusal("\"N + 24\"", "\"N - 1000\""),
            "kernel plain: tensor map t: strides[0] = N - 1000 is 0, outside of 1 … 274877906943");
  EXPECT_EQ(refusal("\"2*N\"", "\"0 - N\""),
            "kernel plain: tensor map t: offset = 0 - N is -1000, outside of 0 … 274877906943");
  EXPECT_EQ(
      refusal("\"N\", 3", "\"N//(N - 1000)\", 3"),
      "kernel plain: tensor map t: extents[0] = N//(N - 1000) has no value: division by zero");
}

TEST(Geometry, IsTheLaunchAtTheSize) {
  // SPAN = 64*2 = 128; a block takes 128*4 elements; ceil(1000/512) = 2.
  const Geometry geometry = Candidate().geometry_of("BLOCK=64,UNROLL=2,WAVES=4");
  EXPECT_THAT(geometry.grid, ElementsAre(2U, 1U, 1U));
  EXPECT_THAT(geometry.block, ElementsAre(64U, 1U, 1U));
  EXPECT_EQ(geometry.dynamic_shared_bytes, 512U);
}

TEST(Geometry, IsProgrammaticWhereTheSpaceFileSaysSo) {
  EXPECT_FALSE(Candidate().geometry_of("").programmatic);
  const auto with = [](const std::string& expression) {
    return Candidate(altered(kDocument, "\"launch\": {",
                             "\"launch\": {\"programmatic\": \"" + expression + "\", "));
  };
  const Candidate candidate = with("dev.compute_capability >= 90 and WAVES == 4");
  EXPECT_TRUE(candidate.geometry_of("WAVES=4").programmatic);
  EXPECT_FALSE(candidate.geometry_of("WAVES=1").programmatic);
  EXPECT_EQ(usage_error([&] { static_cast<void>(with("WAVES").geometry_of("WAVES=4")); }),
            "kernel plain: launch.programmatic = WAVES is 4, outside of 0 … 1");
  EXPECT_NE(candidate.kernel().hash, Candidate().kernel().hash);
  EXPECT_EQ(candidate.job().key, Candidate().job().key);
}

TEST(Geometry, FollowsTheSlotsToAnotherSize) {
  const Candidate candidate;
  EXPECT_EQ(candidate.geometry_of("WAVES=1", {1}).grid[0], 1U);
  EXPECT_EQ(candidate.geometry_of("WAVES=1", {129}).grid[0], 2U);
}

TEST(SlotsAtSize, RecomputesDerivedValues) {
  const Candidate candidate(altered(kDocument, "BLOCK*UNROLL", "min(N, BLOCK*UNROLL)"));
  const std::size_t span = candidate.kernel().space->scope.find("SPAN")->slot;
  EXPECT_EQ(candidate.expression_values("", {1000})[span], 128);
  EXPECT_EQ(candidate.expression_values("", {7})[span], 7);
}

TEST(SlotsAtSize, NamesADerivedValueThatHasNone) {
  const Candidate candidate(altered(kDocument, "BLOCK + 1", "1 // (N - 7)"));
  EXPECT_EQ(usage_error([&] { return candidate.expression_values("", {7}); }),
            "kernel plain: the derived value SPARE = 1 // (N - 7) has no value at the size 7: "
            "division by zero");
}

TEST(Geometry, RefusesWhatNoDeviceCanLaunch) {
  const auto error = [](std::string_view from, std::string_view to) {
    const Candidate candidate(altered(kDocument, from, to));
    return usage_error([&] { return candidate.geometry_of(""); });
  };
  const std::string_view grid = "\"ceil_div(N, SPAN*WAVES)\"";
  EXPECT_EQ(error(grid, "\"N - 1000\""),
            "kernel plain: launch.grid[0] = N - 1000 is 0, outside of 1 … 2147483647");
  EXPECT_EQ(error(grid, "1, \"70*N\""),
            "kernel plain: launch.grid[1] = 70*N is 70000, outside of 1 … 65535");
  EXPECT_EQ(error(grid, "\"1 // (N - 1000)\""),
            "kernel plain: launch.grid[0] = 1 // (N - 1000) has no value: division by zero");
  EXPECT_THAT(error("[\"BLOCK\"]", "[1025]"), HasSubstr("is 1025, outside of 1 … 1024"));
  EXPECT_THAT(error("[\"BLOCK\"]", "[1, 1, 65]"), HasSubstr("launch.block[2] = 65 is 65"));
  EXPECT_EQ(error("[\"BLOCK\"]", "[64, 32]"),
            "kernel plain: launch.block is 64x32x1 = 2048 threads; a block has at most 1024");
  EXPECT_THAT(error("\"4*SPAN\"", "-1"), HasSubstr("launch.dynamic_shared_bytes = -1 is -1"));
}

}  // namespace
}  // namespace tuner::family
