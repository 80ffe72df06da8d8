// SPDX-License-Identifier: Apache-2.0
// Batches, transposes, padded rows, offsets and scratch: a right kernel passes, and each way of
// getting one of them wrong is found out.
#include "tests/verify/split_gemm.hpp"

#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/verify_configuration.hpp"
#include "tuner/core/error.hpp"
#include "tuner/verify/verifier.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsNan;

constexpr std::size_t kA = 6, kB = 8, kC = 11;         // places of the arguments
const space::Size kPadded = {13, 11, 10, 2, 2, 3, 2};  // TN, 3 elements between rows, offset 2

class SplitGemmTest : public testing::Test {
 protected:
  Expected<Verdict, Failure> verify(const family::Family& family, const space::Size& size,
                                    std::string_view config_text = "") {
    Verifier verifier(*backend_, family, 77);
    return verify_configuration(*backend_, verifier, family.kernels.front(), size, config_text);
  }

  /// The outcome and the message of a kernel in which `from` is replaced.
  Failure broken(std::string_view from, std::string_view to) {
    std::string source(split_gemm::kSource);
    const std::size_t at = source.find(from);
    if (at == std::string::npos) ADD_FAILURE() << "the kernel has no " << from;
    const auto verdict = verify(split_gemm::family(source.replace(at, from.size(), to)), kPadded);
    return verdict ? Failure{Outcome::ok, "survived"} : verdict.error();
  }

  std::vector<float> read(backend::Region region, std::int64_t first, std::size_t count) {
    region.offset_bytes += static_cast<std::size_t>(4 * first);
    std::vector<float> values(count);
    backend_->read(region, std::as_writable_bytes(std::span(values)));
    return values;
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  CheckKernels kernels_{*backend_};
};

TEST_F(SplitGemmTest, ARightKernelIsRightInEveryLayout) {
  const family::Family family = split_gemm::family();
  for (const std::string_view config : {"SPLITS=3", "SPLITS=1,BLOCK=8"}) {
    const auto verdict = verify(family, kPadded, config);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_LE(verdict->worst_error, 1.0);
  }
}

TEST_F(SplitGemmTest, TheLibraryDoesTheSameWorkOnTheSameBuffers) {
  const family::Family family = split_gemm::family();
  for (const std::int64_t trans : {1, 2, 3, 4}) {
    for (const std::size_t check_case : {0U, 1U}) {
      const space::Size size = {13, 11, 10, 3, trans, 3, 1};
      Instance instance(*backend_, kernels_, family,
                        {.size = size, .check_case = check_case, .seed = 1});
      instance.prepare_launch();
      ASSERT_TRUE(backend_->run(*instance.library_work()));
      const auto right = instance.inspect();
      EXPECT_TRUE(right) << trans << ": " << right.error().message;
    }
  }
}

TEST_F(SplitGemmTest, BuffersBeginAtTheirOffsetRightBehindAGuardZone) {
  const family::Family family = split_gemm::family();
  for (const std::int64_t align : {1, 2, 4}) {
    Instance instance(*backend_, kernels_, family, {.size = {5, 7, 9, 2, 1, 3, align}});
    instance.prepare_launch();
    for (const std::size_t argument : {kA, kB, kC}) {
      const backend::Region region = std::get<backend::Region>(instance.arguments().at(argument));
      EXPECT_EQ(region.offset_bytes % 256, static_cast<std::size_t>(align % 4 * 4));
      EXPECT_THAT(read(region, -2, 2), Each(IsNan()));
    }
    const auto call = std::get<backend::LibraryCall>(*instance.library_work());
    EXPECT_EQ(call.operands[blas::kB], std::get<backend::Region>(instance.arguments().at(kB)));
  }
}

TEST_F(SplitGemmTest, WhatLiesBetweenTheRowsOfAnOperandIsNaN) {
  const family::Family family = split_gemm::family();
  const Instance instance(*backend_, kernels_, family, {.size = kPadded});
  const backend::Region a =
      std::get<backend::Region>(instance.arguments().at(kA));  // two matrices of 10 rows of 13
  for (std::int64_t row = 0; row < 20; ++row) {
    EXPECT_THAT(read(a, row * 16, 13), Each(testing::Not(IsNan()))) << row;
    EXPECT_THAT(read(a, row * 16 + 13, 3), Each(IsNan())) << row;
  }
}

TEST_F(SplitGemmTest, NothingIsWrittenBetweenTheRowsOfTheResult) {
  const Failure failure =
      broken("if (inside) {\n    float sum = 0.0f;\n    for (int p",
             "if (row < M && col < ldc) {\n    float sum = 0.0f;\n    for (int p");
  EXPECT_EQ(failure.outcome, Outcome::wrong_result);
  EXPECT_THAT(failure.message, HasSubstr("(between the rows) is "));
  EXPECT_THAT(failure.message, HasSubstr("should be left unwritten"));
}

TEST_F(SplitGemmTest, WhatIsReadBetweenTheRowsShows) {
  const Failure failure =
      broken("N + col] = sum;", "N + col] = sum + 0.0f * A[(trans_a ? K : M) * lda - 1];");
  EXPECT_EQ(failure.outcome, Outcome::wrong_result);
  EXPECT_THAT(failure.message, HasSubstr("C[0] (row 0, column 0) is NaN, should be"));
}

TEST_F(SplitGemmTest, AnElementIsNamedByMatrixRowAndColumn) {
  const Failure failure = broken("sum += partials", "sum += (batch == 1) + partials");
  EXPECT_EQ(failure.outcome, Outcome::wrong_result);
  // 5x7 with 3 elements between rows: the second matrix begins at 50.
  EXPECT_THAT(failure.message, HasSubstr("C[50] (matrix 1, row 0, column 0) is"));
}

TEST_F(SplitGemmTest, AnOverrunOfScratchIsOutOfBounds) {
  const auto expect = [](const Failure& failure, const std::string& text) {
    EXPECT_EQ(failure.outcome, Outcome::out_of_bounds);
    EXPECT_THAT(failure.message, HasSubstr(text));
    EXPECT_THAT(failure.message, HasSubstr("(size 1x1x1x1x1x1x1, whole-number inputs, seed 77)"));
  };
  expect(broken("if (threadIdx.x", "partials[SPLITS * M * N] = 1; if (threadIdx.x"),
         "wrote partials[3], beyond the end of its 3 elements; 1 word of the guard zone changed");
  expect(broken("if (threadIdx.x", "arrived[-1] = 1; if (threadIdx.x"),
         "wrote arrived[-1], before its start");
  expect(broken("if (threadIdx.x", "unused[1] = 1; if (threadIdx.x"),
         "wrote unused[1], beyond the end of its 1 element");
  EXPECT_EQ(broken("if (threadIdx.x", "unused[0] = 1; if (threadIdx.x").outcome, Outcome::ok)
      << "a count of 0 gives one element";
}

TEST_F(SplitGemmTest, ScratchIsZeroOnceAndThenAsTheKernelLeftIt) {
  const Failure failure = broken("arrived[tile] = 0;", "arrived[tile] = SPLITS;");
  EXPECT_EQ(failure.outcome, Outcome::wrong_result);
  EXPECT_THAT(failure.message, HasSubstr("size 1x1x1x1x1x1x1, normal inputs"))
      << "right in the first launch, on whole numbers";
}

TEST_F(SplitGemmTest, ScratchThatNoMemoryHoldsIsALaunchError) {
  std::string document(split_gemm::kDocument);
  const std::string_view from = "BATCH*SPLITS*M*N";
  const auto verdict_of = [&](std::string_view count) {
    std::string changed = document;
    changed.replace(changed.find(from), from.size(), count);
    return verify(split_gemm::family(split_gemm::kSource, changed), kPadded);
  };
  const auto large = verdict_of("1 << 48");
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().outcome, Outcome::launch_error);
  EXPECT_THAT(large.error().message, HasSubstr("not enough memory"));
  const auto negative = verdict_of("M - 2");
  ASSERT_FALSE(negative);
  EXPECT_EQ(negative.error().outcome, Outcome::launch_error);
  EXPECT_THAT(negative.error().message,
              HasSubstr("kernel split: the count of scratch 'partials' = M - 2 is -1"));
}

TEST_F(SplitGemmTest, AKernelWithScratchCanBeTheReference) {
  std::string document(split_gemm::kDocument);
  const std::size_t from = document.find(R"({
      "op": "gemm")");
  document.replace(from, document.find('}', from) + 1 - from, R"({"kernel": "split"})");
  const auto verdict = verify(split_gemm::family(split_gemm::kSource, document), kPadded);
  EXPECT_TRUE(verdict) << verdict.error().message;
}

TEST_F(SplitGemmTest, AReferenceThatWritesNothingIsRefused) {
  std::string document(split_gemm::kDocument);
  const std::size_t from = document.find(R"({
      "op": "gemm")");
  document.replace(from, document.find('}', from) + 1 - from, R"({"kernel": "split"})");
  std::string source(split_gemm::kSource);
  source.replace(source.find("row < M"), 7, "row < 0");
  try {
    static_cast<void>(verify(split_gemm::family(source, document), kPadded));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("the reference writes nothing to its output C"),
                                    HasSubstr("correct its launch for this size, or leave the size "
                                              "out")));
  }
}

TEST_F(SplitGemmTest, ASizeAtWhichTheLibraryCannotMultiplyIsNamed) {
  std::string document(split_gemm::kDocument);
  const std::string_view from = R"("ldc": "N + PAD")";
  document.replace(document.find(from), from.size(), R"json("ldc": "max(9, N - PAD // 100)")json");
  const family::Family family = split_gemm::family(split_gemm::kSource, document);
  try {
    const Instance instance(*backend_, kernels_, family, {.size = {13, 11, 10, 2, 2, 300, 2}});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("gemm: ldc is 9, less than a row of c is long: 11 (at the "
                                        "size 13x11x10x2x2x300x2)"));
  }
}

}  // namespace
}  // namespace tuner::verify
