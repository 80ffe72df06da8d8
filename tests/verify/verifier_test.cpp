// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/verifier.hpp"

#include "tests/support/scripted_backend.hpp"
#include "tests/verify/gemm_family.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tuner::verify {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::ScriptedBackend;

/// By which a product's inputs are drawn at the largest check size: ten laws, and six draws more.
constexpr int kLawsAndDraws = 16;

/// A device on which every result counts as right: what is launched, and at which sizes, shows.
class VerifierTest : public testing::Test {
 protected:
  Expected<Verdict, Failure> verify(std::string_view config_text, const space::Size& size) {
    launched.clear();
    const family::Kernel& kernel = family.kernels.front();
    const space::Space space(kernel.space, backend.device().attributes, size);
    const space::Config config = space::config_from_text(*kernel.space, config_text);
    const backend::KernelId loaded =
        *backend.load(*backend.compiler().compile(family::compile_job(kernel, space, config)));
    LoadedCandidate candidate{.kernel = kernel, .space = space, .config = config, .loaded = loaded};
    return verifier().verify(candidate, size);
  }

  Verifier& verifier() {
    if (!verifier_) verifier_.emplace(backend, family, 1);
    return *verifier_;
  }

  Expected<double, Failure> answer(const backend::Work& work) {
    const auto* launch = std::get_if<backend::Launch>(&work);
    if (launch == nullptr || !backend.symbol(launch->kernel).starts_with("gemm<")) return 1.0;
    const auto number = [&](std::size_t argument) {
      return static_cast<std::int64_t>(std::get<std::int32_t>(
          std::get<family::Scalar>(launch->steps.front().arguments.at(argument))));
    };
    launched.push_back(
        space::display(space::Size{number(0), number(1), number(2)}, family.problem.dims));
    if (failure && launched.size() == 2) return Unexpected(*failure);
    return 1.0;
  }

  family::Family family = gemm::family();
  ScriptedBackend backend{[this](const backend::Work& work) { return answer(work); }};
  std::vector<std::string> launched;  ///< the size of every launch of a candidate
  std::optional<Failure> failure;     ///< of the second launch

 private:
  std::optional<Verifier> verifier_;
};

TEST_F(VerifierTest, TriesAwkwardSizesUnderEveryCaseThenTheTunedSizeOnTwoKindsOfInputs) {
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  for (const char* size : {"1x1x1", "3x5x3"}) {
    EXPECT_EQ(std::ranges::count(launched, size), 6)
        << size << ": whole, normal and few-valued numbers, each under two cases";
  }
  EXPECT_EQ(std::ranges::count(launched, "6x7x5"), 7 + kLawsAndDraws)
      << "once more with read-only inputs";
  EXPECT_EQ(std::ranges::count(launched, "20x24x31"), 6)
      << "whole numbers, normal ones under the other case, by a law, twice on those that are "
         "timed, and on changed ones";
  EXPECT_THAT(launched, testing::SizeIs(25 + kLawsAndDraws))
      << "3x5x3 comes from the configuration; 0x1x1, which it also gives, is no size";
  EXPECT_EQ(launched.back(), "20x24x31");
}

TEST_F(VerifierTest, RecordsEachCheckAndWhatItFound) {
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  std::vector<std::string> sizes;
  for (const PerformedCheck& check : verifier().performed()) {
    sizes.push_back(space::display(check.size, family.problem.dims));
    EXPECT_EQ(check.outcome, Outcome::ok);
    EXPECT_TRUE(check.worst_error);
  }
  EXPECT_EQ(sizes, launched);
  const PerformedCheck& first = verifier().performed().front();
  EXPECT_EQ(first.inputs, "whole-number");
  EXPECT_EQ(first.check_case, 0U);
  EXPECT_EQ(first.seed, 1U);
  EXPECT_EQ(verifier().performed().back().inputs, "changed");
  EXPECT_EQ(verifier().performed().back().launch, "behind others");
  EXPECT_THAT(verifier().performed(),
              testing::Contains(testing::Field(&PerformedCheck::inputs, "outliers")));
  EXPECT_THAT(verifier().performed(),
              testing::Contains(testing::Field(&PerformedCheck::check_case, 1)));
  EXPECT_THAT(verifier().performed(),
              testing::Contains(testing::Field(&PerformedCheck::launch, "read-only inputs")));

  failure = Failure{Outcome::launch_error, "out of resources"};
  ASSERT_FALSE(verify("BLOCK=8", {20, 24, 31}));
  EXPECT_THAT(verifier().performed(), testing::SizeIs(2)) << "of the last candidate only";
  EXPECT_EQ(verifier().performed().back().outcome, Outcome::launch_error);
  EXPECT_THAT(verifier().performed().back().message, HasSubstr("out of resources"));
  EXPECT_FALSE(verifier().performed().back().worst_error);
}

TEST_F(VerifierTest, AwkwardSizesOfAConfigurationAreTriedOnce) {
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  ASSERT_TRUE(verify("BLOCK=4", {40, 24, 31}));
  EXPECT_THAT(launched, testing::AllOf(testing::SizeIs(6), testing::Each("40x24x31")));
  ASSERT_TRUE(verify("BLOCK=8", {40, 24, 31}));
  EXPECT_THAT(launched, testing::Contains("7x9x3")) << "another configuration, other sizes";
}

TEST_F(VerifierTest, WhatWasWrongAtAnAwkwardSizeIsTriedAgain) {
  failure = Failure{Outcome::launch_error, "out of resources"};
  ASSERT_FALSE(verify("BLOCK=4", {20, 24, 31}));
  failure.reset();
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  EXPECT_THAT(launched, testing::SizeIs(25 + kLawsAndDraws));
}

TEST_F(VerifierTest, AnotherVersionOfTheKernelIsTriedAgain) {
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  family.kernels.front().hash = "another";
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  EXPECT_THAT(launched, testing::SizeIs(25 + kLawsAndDraws));
}

TEST_F(VerifierTest, SkipsAwkwardSizesThatAConstraintRulesOut) {
  family = gemm::family("N >= BLOCK or N < 1000", "N >= 6");
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  EXPECT_THAT(launched, testing::Each(testing::AnyOf("6x7x5", "20x24x31")));
  EXPECT_THAT(launched, testing::SizeIs(13 + kLawsAndDraws));
}

TEST_F(VerifierTest, AnOperationIsTriedAtSizesOfOurOwnWhenTheSpaceFileListsNone) {
  family = gemm::family(R"("sizes": [[1, 1, 1], [6, 7, 5]],)", "");
  ASSERT_TRUE(verify("BLOCK=4", {20, 24, 31}));
  for (const char* size : {"1x1x1", "17x19x23", "1x19x23", "17x1x23", "17x19x1", "131x7x11",
                           "5x131x11", "5x7x131", "3x5x3"}) {
    const bool is_largest = std::string_view(size) == "131x7x11";
    EXPECT_EQ(std::ranges::count(launched, size) / 6, is_largest ? (6 + kLawsAndDraws) / 6 : 1)
        << size;
  }
}

TEST_F(VerifierTest, SaysWhatItIsAboutToDo) {
  std::vector<std::string> steps;
  Verifier observed(backend, family, 1, [&](const VerifyStep& step) {
    steps.push_back((step.kind == VerifyStep::Kind::prepare ? "prepare " : "launch ") +
                    space::display(step.size, family.problem.dims));
  });
  const family::Kernel& kernel = family.kernels.front();
  const space::Space space(kernel.space, backend.device().attributes, space::Size{20, 24, 31});
  LoadedCandidate candidate{.kernel = kernel,
                            .space = space,
                            .config = space.default_config(),
                            .loaded = backend::KernelId{99}};
  ASSERT_TRUE(observed.verify(candidate, {20, 24, 31}));
  EXPECT_EQ(std::ranges::count(steps, "prepare 3x5x3"), 6) << "once for each kind of inputs";
  EXPECT_EQ(std::ranges::count(steps, "launch 3x5x3"), 6);
  EXPECT_EQ(steps[0], "prepare 1x1x1");
  EXPECT_EQ(steps[1], "launch 1x1x1");
  EXPECT_EQ(std::ranges::count(steps, "prepare 20x24x31"), 4);
  EXPECT_THAT(std::vector(steps.end() - 3, steps.end()), testing::Each("launch 20x24x31"));
  steps.clear();
  ASSERT_TRUE(observed.verify_timed(candidate, {20, 24, 31}));
  EXPECT_THAT(steps, testing::ElementsAre("launch 20x24x31"));
}

TEST_F(VerifierTest, AFailureOfTheDeviceIsPassedOnWithTheSize) {
  for (const Outcome outcome : {Outcome::launch_error, Outcome::crashed}) {
    failure = Failure{outcome, "out of resources"};
    const auto verdict = verify("BLOCK=4", {20, 24, 31});
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.error().outcome, outcome);
    EXPECT_EQ(verdict.error().message, "out of resources (at size 1x1x1)");
  }
}

TEST_F(VerifierTest, AConfigurationWithoutLegalLaunchIsALaunchError) {
  const auto verdict = verify("BLOCK=2048", {20, 24, 31});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().outcome, Outcome::launch_error);
  EXPECT_THAT(verdict.error().message, HasSubstr("2048"));
  EXPECT_THAT(launched, IsEmpty());
}

TEST_F(VerifierTest, TimesOnNormalInputsAtTheTunedSize) {
  const Instance& timing = verifier().timing_instance({20, 24, 31});
  EXPECT_EQ(
      timing.recipe(),
      (Instance::Recipe{.size = {20, 24, 31}, .fill = Fill::normal, .check_case = 0, .seed = 1}));
  EXPECT_EQ(&verifier().timing_instance({20, 24, 31}), &timing) << "made once";
}

}  // namespace
}  // namespace tuner::verify
