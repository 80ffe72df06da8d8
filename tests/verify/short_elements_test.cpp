// SPDX-License-Identifier: Apache-2.0
// Results of 16 bits an element, of which an odd number does not fill its last word.
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/verify_configuration.hpp"
#include "tuner/core/error.hpp"
#include "tuner/verify/verifier.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <string_view>

namespace tuner::verify {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTwice = R"(
__global__ void twice(int n, unsigned short* x, unsigned short* y) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
)";

constexpr std::string_view kTwiceDocument = R"json({
  "format": "space/1",
  "family": "twice",
  "problem": {"dims": ["N"], "flops": 0, "bytes": "4*N"},
  "arguments": [
    {"name": "N", "type": "int", "value": "N"},
    {"name": "x", "type": "unsigned short*", "count": "N", "offset": 0},
    {"name": "y", "type": "unsigned short*", "count": "N", "role": "output"}
  ],
  "check": {"reference": {"kernel": "twice"}, "sizes": [[1]]},
  "kernels": {
    "twice": {"source": "twice.cu", "entry": "twice",
              "launch": {"grid": ["ceil_div(N + 2, 64)"], "block": [64]}}
  }
})json";

class ShortElementsTest : public testing::Test {
 protected:
  static family::Family family(std::string_view offset = "0") {
    std::string text(kTwiceDocument);
    text.replace(text.find("\"offset\": 0"), 11, "\"offset\": " + std::string(offset));
    return family::parse_family(
        text, "twice.json",
        {{"twice", {.name = "twice.cu", .text = std::string(kTwice), .headers = {}}}});
  }

  /// Judges the kernel with a part of its source replaced, at an odd size.
  Expected<Verdict, Failure> verify(std::string_view from, std::string_view to) {
    family::Kernel kernel = family_.kernels.front();
    kernel.source.text.replace(kernel.source.text.find(from), from.size(), to);
    kernel.hash = to;
    return verify_configuration(*backend_, verifier_, kernel, {101});
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
  family::Family family_ = family();
  Verifier verifier_{*backend_, family_, 77};
};

TEST_F(ShortElementsTest, AreRightOrWrongOneByOne) {
  const auto right = verify("twice", "twice");
  EXPECT_TRUE(right) << right.error().message;

  const auto expect_failure = [&](std::string_view from, std::string_view to, Outcome outcome,
                                  const std::string& message) {
    const auto verdict = verify(from, to);
    ASSERT_FALSE(verdict) << to;
    EXPECT_EQ(verdict.error().outcome, outcome) << verdict.error().message;
    EXPECT_THAT(verdict.error().message, HasSubstr(message));
  };
  expect_failure("2 * x[i]", "2 * x[i] + (n == 101 && i == 100)", Outcome::wrong_result,
                 "y[100] is ");
  expect_failure("i < n", "i < n - n / 101", Outcome::wrong_result, "not written");
  expect_failure("i < n", "i <= n", Outcome::out_of_bounds,
                 "wrote y[1], beyond the end of its 1 element ");
  expect_failure("i < n", "i <= n + 1", Outcome::out_of_bounds,
                 "wrote y[2], beyond the end of its 1 element;");
  expect_failure("2 * x[i];", "2 * x[i]; if (i == 0) x[n - 1] += 1;", Outcome::out_of_bounds,
                 "wrote its input x");
}

TEST_F(ShortElementsTest, WhatTheReferenceWritesBehindTheLastIsFoundInItsWordToo) {
  std::string source(kTwice);
  source.replace(source.find("i < n"), 5, "i <= n");
  const family::Family beyond = family::parse_family(
      kTwiceDocument, "twice.json",
      {{"twice", {.name = "twice.cu", .text = std::move(source), .headers = {}}}});
  Verifier verifier(*backend_, beyond, 77);
  try {
    static_cast<void>(verify_configuration(*backend_, verifier, beyond.kernels.front(), {101}));
    FAIL() << "the reference wrote y[101] of 101 elements";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the reference wrote y[101], outside of its 101 elements"));
  }
}

TEST_F(ShortElementsTest, BeginWithAWord) {
  const family::Family odd = family("1");
  Verifier verifier(*backend_, odd, 77);
  try {
    static_cast<void>(verifier.timing_instance({101}));
    FAIL() << "an offset of 2 bytes";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("argument x: its offset is 1"));
  }
}

}  // namespace
}  // namespace tuner::verify
