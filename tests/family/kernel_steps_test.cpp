// SPDX-License-Identifier: Apache-2.0
// Kernels of several launches.
#include "sample.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tuner::family {
namespace {

using sample::usage_error;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSteps = R"([
  {"entry": "parts<${BLOCK}>", "arguments": ["N", "x", "sums"],
   "launch": {"grid": ["BLOCKS"], "block": ["BLOCK"], "dynamic_shared_bytes": "4*BLOCK"}},
  {"entry": "total<${HALF}>", "arguments": ["sums", {"name": "count", "type": "int", "value": "BLOCKS"}, "y"],
   "launch": {"grid": [1], "block": ["HALF"]}}])";

/// A sum in two launches, whose kernel has these keys beside source, parameters and scratch.
std::string document(std::string_view keys) {
  constexpr std::string_view kText = R"json({{
    "format": "space/1", "family": "sum",
    "problem": {{"dims": ["N"], "flops": "N", "bytes": "4*N"}},
    "arguments": [{{"name": "N", "type": "int", "value": "N"}},
                  {{"name": "x", "type": "float*", "count": "N"}},
                  {{"name": "y", "type": "float*", "count": 1, "role": "output"}}],
    "check": {{"reference": {{"kernel": "plain"}}}},
    "kernels": {{"plain": {{
      "source": "sum.cu",
      "parameters": {{"BLOCK": {{"values": [32, 64], "default": 64}},
                      "BLOCKS": {{"values": [4, 0], "default": 4, "kind": "launch"}}}},
      "derived": {{"HALF": "BLOCK // 2"}},
      "scratch": [{{"name": "sums", "type": "float*", "count": "BLOCKS"}}],
      {} }}}}
  }})json";
  return fmt::format(kText, keys);
}

std::string with_steps(std::string_view steps) {
  return document("\"steps\": " + std::string(steps));
}

/// The steps with one text in place of another.
std::string altered_steps(std::string_view from, std::string_view to) {
  return with_steps(sample::altered(kSteps, from, to));
}

class StepsOwner {
 public:
  explicit StepsOwner(std::string_view text)
      : family_(sample::parse(text)),
        space_(kernel().space, space::device_profile("h200").value().attributes,
               space::Size{1000}) {}

  [[nodiscard]] const Kernel& kernel() const { return family_.kernel("plain"); }
  [[nodiscard]] space::ExpressionValues expression_values(std::string_view config = "") const {
    return space_.expression_values(space::config_from_text(*kernel().space, config));
  }
  [[nodiscard]] std::vector<TakenArgument> taken(std::size_t step) const {
    return taken_arguments(kernel(), step, family_.arguments.size(), expression_values());
  }
  [[nodiscard]] CompileJob job() const {
    return compile_job(kernel(), space_, space_.default_config());
  }

 private:
  Family family_;
  space::Space space_;
};

using Place = std::size_t;

TEST(KernelSteps, EachHasItsEntryItsLaunchAndWhatItTakes) {
  const StepsOwner owner(with_steps(kSteps));
  EXPECT_THAT(owner.job().entries, ElementsAre("parts<64>", "total<32>"));
  const Geometry first = geometry(owner.kernel(), 0, owner.expression_values());
  EXPECT_EQ(first.grid[0], 4U);
  EXPECT_EQ(first.dynamic_shared_bytes, 256U);
  EXPECT_EQ(geometry(owner.kernel(), 1, owner.expression_values()).block[0], 32U);
  EXPECT_THAT(owner.taken(0), ElementsAre(Place{0}, Place{1}, Place{3}));
  EXPECT_THAT(owner.taken(1), ElementsAre(Place{3}, Scalar(std::int32_t{4}), Place{2}));
}

TEST(KernelSteps, TakeAllWithoutAList) {
  const StepsOwner owner(altered_steps(R"("arguments": ["N", "x", "sums"],)", ""));
  EXPECT_THAT(owner.taken(0), ElementsAre(Place{0}, Place{1}, Place{2}, Place{3}));
}

TEST(KernelSteps, OneIsWhatAnEntryAndALaunchAre) {
  const StepsOwner several(with_steps(
      R"([{"entry": "f<${BLOCK}>", "launch": {"grid": ["BLOCKS"], "block": ["BLOCK"]}}])"));
  const StepsOwner one(
      document(R"("entry": "f<${BLOCK}>", "launch": {"grid": ["BLOCKS"], "block": ["BLOCK"]})"));
  EXPECT_EQ(several.kernel().hash, one.kernel().hash);
  EXPECT_EQ(several.job().key, one.job().key);
}

TEST(KernelSteps, ArePartOfTheKernelsIdentity) {
  const std::string hash = StepsOwner(with_steps(kSteps)).kernel().hash;
  for (const auto& [from, to] :
       {std::pair("\"block\": [\"HALF\"]", "\"block\": [32]"), std::pair("total<", "sum<"),
        std::pair("\"BLOCKS\"}", "\"N\"}"), std::pair("\"sums\"],", "\"y\"],")}) {
    EXPECT_NE(StepsOwner(altered_steps(from, to)).kernel().hash, hash) << to;
  }
}

TEST(KernelSteps, AnImpossibleLaunchIsThatOfItsStep) {
  const StepsOwner owner(with_steps(kSteps));
  EXPECT_THAT(
      usage_error([&] { return geometry(owner.kernel(), 0, owner.expression_values("BLOCKS=0")); }),
      HasSubstr("kernel plain: steps[0].launch.grid[0] = BLOCKS is 0, outside of 1 … 2147483647"));
}

TEST(KernelSteps, MistakesAreNamed) {
  const auto error = [](const std::string& text) {
    return usage_error([&] { return sample::parse(text); });
  };
  EXPECT_EQ(error(with_steps("[]")),
            "axpy.json: kernels.plain.steps: must have at least 1 element, has 0");
  EXPECT_THAT(error(with_steps(R"([{"entry": "f"}])")),
              StartsWith("axpy.json: kernels.plain.steps[0]: "));
  EXPECT_THAT(error(altered_steps("\"launch\": {\"grid\": [1]", "\"launch\": {\"grids\": [1]")),
              StartsWith("axpy.json: kernels.plain.steps[1].launch: unknown key \"grids\""));
  EXPECT_THAT(error(altered_steps("[\"sums\", {", "[\"sum\", {")),
              StartsWith("axpy.json: kernels.plain.steps[1].arguments[0]: unknown argument \"sum\" "
                         "(did you mean 'sums'?)"));
  EXPECT_EQ(error(document("\"entry\": \"f\", \"steps\": " + std::string(kSteps))),
            "axpy.json: kernels.plain.entry: cannot be given together with \"steps\": each step "
            "has its own");
  EXPECT_THAT(
      error(with_steps(
          R"([{"entry": "f", "arguments": ["sums"], "launch": {"grid": [1], "block": [1]}}])")),
      StartsWith("axpy.json: kernels.plain.steps: the template parameter BLOCK is not "
                 "in the entry of any step"));
}

TEST(KernelSteps, ScratchThatNoStepTakesIsAMistake) {
  const std::string text =
      sample::altered(altered_steps("\"x\", \"sums\"]", "\"x\", \"y\"]"), "[\"sums\", {", "[{");
  EXPECT_THAT(usage_error([&] { return sample::parse(text); }),
              StartsWith("axpy.json: kernels.plain.steps: no step takes 'sums': write it into the "
                         "\"arguments\" of those that do"));
}

}  // namespace
}  // namespace tuner::family
