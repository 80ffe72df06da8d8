// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/reference_coverage.hpp"

#include "tests/verify/vector_family.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kFromXToY = "const float* x, float* y";
constexpr vectors::Document kMapOfFloats = {.arguments =
                                                R"({"name": "x", "type": "float*", "count": "N",
     "laws": {"exclude": ["zeros", "magnitudes", "offsets", "outliers", "equal", "negative", "small",
                          "wide", "shared", "runs"], "reason": "ordinary numbers leave gaps"}},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"};

class ReferenceCoverageTest : public vectors::VectorsTest {
 protected:
  Coverage cover(const std::string& reference, const vectors::Document& document = kMapOfFloats,
                 std::uint64_t seed = 7) {
    const family::Family family = vectors::family(document, reference, reference);
    return Verifier(*backend_, family, seed).cover({200});
  }
  /// Of a reference that does `body` for each element.
  std::vector<std::string> gaps_of_body(std::string_view body,
                                        const vectors::Document& document = kMapOfFloats) {
    return gaps(cover(vectors::kernel("reference", kFromXToY, body), document));
  }
  /// The places and what was not seen there: "if (x > 20) never_true".
  static std::vector<std::string> gaps(const Coverage& coverage) {
    EXPECT_EQ(coverage.problem, "");
    std::vector<std::string> found;
    for (const CoverageGap& gap : coverage.gaps) {
      found.push_back(fmt::format("{} {}", gap.text, name(gap.unseen)));
    }
    return found;
  }
};

TEST_F(ReferenceCoverageTest, NothingIsMissingWhereEachOutcomeOccurs) {
  const Coverage coverage =
      cover(vectors::kernel("reference", kFromXToY,
                            "y[i] = x[i] > 0 ? x[i] : 0; for (int k = 0; k < i; ++k) y[i] += k;"));
  EXPECT_THAT(gaps(coverage), IsEmpty());
  EXPECT_EQ(coverage.conditions, 3U);
}

TEST_F(ReferenceCoverageTest, AConditionThatInputsNeverMeetIsNamedWithItsLine) {
  const Coverage coverage = cover(
      "__global__ void reference(int n, const float* x, float* y) {\n"
      "  const int i = blockIdx.x * 64 + threadIdx.x;\n"
      "  if (i >= n) return;\n"
      "  if (x[i] > 20) y[i] = x[i];\n"
      "  else y[i] = 1;\n"
      "}\n");
  ASSERT_THAT(gaps(coverage), ElementsAre("if (x[i] > 20) never_true"));
  EXPECT_EQ(coverage.gaps[0].file, "reference.cu");
  EXPECT_EQ(coverage.gaps[0].line, 4U);
  EXPECT_THAT(sentence(coverage.gaps[0]),
              HasSubstr("reference.cu:4: `if (x[i] > 20)` was never true in any check: add a "
                        "\"fill\", a case or a check size"));
}

TEST_F(ReferenceCoverageTest, ABoundIsNeverMetWhereSizesAreMultiplesOfTheBlock) {
  vectors::Document exact = kMapOfFloats;
  exact.sizes = "[64], [128]";
  const family::Family family =
      vectors::family(exact, vectors::kernel("reference", kFromXToY, "y[i] = x[i];"), "");
  const Coverage coverage = Verifier(*backend_, family, 7).cover({256});
  ASSERT_THAT(gaps(coverage), ElementsAre("if (i < n) never_false"));
  EXPECT_THAT(coverage.gaps[0].advice, HasSubstr("no multiple of the block"));
}

TEST_F(ReferenceCoverageTest, AnOperandSaysMoreThanItsCondition) {
  EXPECT_THAT(gaps_of_body("y[i] = (x[i] == 0.25f || x[i] < -1) ? 1 : 2;"),
              ElementsAre("x[i] == 0.25f never_true"));
  EXPECT_THAT(gaps_of_body("y[i] = 2; if (x[i] > 0 && x[i] > 90) y[i] = 1;"),
              ElementsAre("x[i] > 90 never_true"));
  EXPECT_THAT(gaps_of_body("y[i] = 2; if (x[i] > 1 && x[i] < -1) y[i] = 1;"),
              ElementsAre("x[i] < -1 never_true"));
}

TEST_F(ReferenceCoverageTest, LoopsAndLabels) {
  EXPECT_THAT(gaps_of_body("float v = x[i]; while (v > 100) v /= 2; y[i] = v;"),
              ElementsAre("while (v > 100) never_entered"));
  EXPECT_THAT(gaps_of_body("int k = 0; for (; k < n + 5; ++k) if (k >= i) break; y[i] = k;"),
              ElementsAre("for (; k < n + 5; ++k) never_ended"));
  EXPECT_THAT(gaps_of_body("switch (i & 1) { case 0: y[i] = 1; break; case 1: y[i] = 2; break; "
                           "case 2: y[i] = 3; break; default: y[i] = 4; }"),
              ElementsAre("case 2: never_reached", "default: never_reached"));
}

TEST_F(ReferenceCoverageTest, WhatNoInputCanChangeIsNoGap) {
  const std::string text =
      "#define SQUARE(v) do { if ((v) < 0) v = 0; } while (0)\n"
      "constexpr int half_of(int v) { return v > 1 ? v / 2 : 1; }\n"
      "template <bool kScaled, int kMode> __device__ float of(float v) {\n"
      "  float part[half_of(8)];\n"
      "  for (int k = 0; k < 4; ++k) part[k] = v;\n"
      "  if (kScaled) v = part[1] * 2;\n"
      "  if constexpr (kMode > 2) { if (v > 1e9f) v = 0; }\n"
      "  switch (kMode) { case 1: v += 1; break; case 2: v += 2; break; }\n"
      "  SQUARE(v);\n"
      "  return v;\n"
      "}\n"
      "__device__ float unused(float v) { return v > 3 ? 3 : v; }\n" +
      vectors::kernel("reference", kFromXToY, "y[i] = of<false, 1>(x[i]);");
  EXPECT_THAT(gaps(cover(text)), IsEmpty());
}

TEST_F(ReferenceCoverageTest, TheInstancesOfATemplateAreOne) {
  const std::string text =
      "template <int kSign> __device__ float of(float v) { return v * kSign > 0 ? v : 0; }\n"
      "__device__ float same(float v) { return of<1>(fabsf(v)) + of<-1>(fabsf(v)); }\n" +
      vectors::kernel("reference", kFromXToY, "y[i] = same(x[i]);");
  EXPECT_THAT(gaps(cover(text)), IsEmpty());
}

TEST_F(ReferenceCoverageTest, ItCountsWhatCasesAndFillsReach) {
  const std::string text = vectors::kernel("reference", "float limit, const float* x, float* y",
                                           "y[i] = x[i] > limit ? limit : x[i];");
  vectors::Document document = {.arguments =
                                    R"({"name": "limit", "type": "float", "value": 100000000},
    {"name": "x", "type": "float*", "count": "N"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  EXPECT_THAT(gaps(cover(text, document)), ElementsAre("x[i] > limit ? … never_true"));
  document.check = R"(, "cases": [{"set": {"limit": 1}}])";
  EXPECT_THAT(gaps(cover(text, document)), IsEmpty());
}

TEST_F(ReferenceCoverageTest, IsTheSameForASeed) {
  const std::string text = vectors::kernel(
      "reference", kFromXToY, "y[i] = x[i] > 3.2f ? 1 : x[i] > 3.1f ? 2 : x[i] < -3.3f ? 3 : 4;");
  EXPECT_EQ(cover(text), cover(text));
}

TEST_F(ReferenceCoverageTest, ASourceThatTakesNoProbesInTernariesHasThoseOfStatements) {
  // A template argument has no condition of its own.
  const std::string text =
      "template <int N> __device__ float of(float v) { return v * N; }\n" +
      vectors::kernel("reference", kFromXToY,
                      "y[i] = of<sizeof(float) == 4 ? 1 : 2>(x[i]); if (x[i] > 70) y[i] = 0;");
  EXPECT_THAT(gaps(cover(text)), ElementsAre("if (x[i] > 70) never_true"));
}

TEST_F(ReferenceCoverageTest, ASourceThatTakesNoProbesIsVerifiedWithout) {
  const std::string text =
      "#define saw chosen\n" + vectors::kernel("reference", kFromXToY, "y[i] = x[i];");
  const family::Family family =
      vectors::family(kMapOfFloats, text, vectors::kernel("candidate", kFromXToY, "y[i] = x[i];"));
  Verifier verifier(*backend_, family, 7);
  EXPECT_TRUE(verify_configuration(*backend_, verifier, family.kernel("candidate"), {200}));
  const auto coverage = verifier.take_coverage();
  ASSERT_TRUE(coverage);
  EXPECT_THAT(coverage->problem, AllOf(HasSubstr("compile_error"), HasSubstr("chosen")));
  EXPECT_THAT(coverage->gaps, IsEmpty());
}

TEST_F(ReferenceCoverageTest, TheChecksOfACandidateAreEnoughAndItIsTakenOnce) {
  const std::string reference =
      vectors::kernel("reference", kFromXToY, "y[i] = x[i] > 20 ? 20 : x[i];");
  const family::Family family = vectors::family(
      kMapOfFloats, reference, vectors::kernel("candidate", kFromXToY, "y[i] = x[i];"));
  Verifier verifier(*backend_, family, 7);
  ASSERT_TRUE(verify_configuration(*backend_, verifier, family.kernel("candidate"), {200}));
  const auto coverage = verifier.take_coverage();
  ASSERT_TRUE(coverage);
  EXPECT_THAT(gaps(*coverage), ElementsAre("x[i] > 20 ? … never_true"));
  EXPECT_FALSE(verifier.take_coverage());
}

}  // namespace
}  // namespace tuner::verify
