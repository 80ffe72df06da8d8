// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/registry.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace tuner::backend {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The message of the Error with this code that opening a backend ends with.
std::string refusal(std::string_view kind, int ordinal, ErrorCode code) {
  try {
    return "opened " + open_backend(kind, ordinal)->device().name;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
}

bool machine_has_gpu() {
  const auto findings = examine_machine();
  return std::ranges::any_of(findings, [](const Finding& finding) {
    return finding.what == "GPU 0" && finding.status == Finding::Status::good;
  });
}

TEST(Registry, OpensTheCpuOnAMachineWithoutAGpu) {
  if (machine_has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_EQ(open_backend("auto", 0)->device().backend, "cpu");
}

TEST(Registry, OpensTheGpuOfAMachineThatHasOne) {
  if (!machine_has_gpu()) GTEST_SKIP() << "this machine has no GPU";
  EXPECT_EQ(open_backend("auto", 0)->device().backend, "cuda");
}

TEST(Registry, SaysWhatIsMissingForCudaAndWhatStillWorks) {
  if (machine_has_gpu()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(refusal("cuda", 0, ErrorCode::no_device),
              AllOf(HasSubstr("`--backend cpu` tunes on the CPU"),
                    Not(HasSubstr("cudaErrorInsufficientDriver"))));
}

TEST(Registry, SaysHowManyDevicesThereAre) {
  EXPECT_THAT(refusal("cpu", 1, ErrorCode::no_device),
              HasSubstr("all cores together are device 0"));
  if (machine_has_gpu()) {
    EXPECT_THAT(refusal("cuda", 1000, ErrorCode::no_device),
                StartsWith("there is no GPU 1000: this machine has "));
  }
}

TEST(Registry, SuggestsABackendForAnUnknownOne) {
  EXPECT_EQ(refusal("cudda", 0, ErrorCode::usage),
            "there is no backend 'cudda' (did you mean 'cuda'?)");
}

TEST(Registry, ExaminesEveryBackendAndHasARemedyForEverythingMissing) {
  const auto findings = examine_machine();
  EXPECT_THAT(findings, Contains(Field(&Finding::what, HasSubstr("ompiler"))));
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.what.empty());
    EXPECT_FALSE(finding.detail.empty()) << finding.what;
    EXPECT_EQ(finding.remedy.empty(), finding.status == Finding::Status::good) << finding.what;
  }
}

}  // namespace
}  // namespace tuner::backend
