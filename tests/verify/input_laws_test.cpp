// SPDX-License-Identifier: Apache-2.0
// Inputs that are drawn by laws find what ordinary ones do not, and refuse nothing that is right.
#include "tests/verify/vector_family.hpp"
#include "tuner/verify/instance.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <span>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class InputLawsTest : public vectors::VectorsTest {
 protected:
  static constexpr std::string_view kMapParameters = "const float* x, float* y";
  static constexpr vectors::Document kMap = {.arguments =
                                                 R"({"name": "x", "type": "float*", "count": "N"},
                      {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  static constexpr std::string_view kIntegerParameters = "const int* x, int* y";
  static constexpr vectors::Document kIntegers = {
      .arguments = R"({"name": "x", "type": "int*", "count": "N"},
                      {"name": "y", "type": "int*", "count": "N", "role": "output"})"};
  static constexpr std::string_view kIndexParameters = "const int* k, const float* x, float* y";
  static constexpr vectors::Document kIndices = {
      .arguments =
          R"({"name": "k", "type": "int*", "count": "N", "fill": {"integers": [0, "N-1"]}},
             {"name": "x", "type": "float*", "count": "N"},
             {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  /// "law NAME" in the message of a refusal.
  testing::Matcher<std::string> refused_under(std::string_view law) {
    return AllOf(HasSubstr("wrong_result"), HasSubstr(fmt::format("law \"{}\"", law)));
  }

  /// The elements of x at 300 elements under a law.
  std::vector<float> drawn(const vectors::Document& document, std::string_view parameters,
                           std::string_view body, family::Law law) {
    const family::Family family =
        vectors::family(document, vectors::kernel("reference", parameters, body),
                        vectors::kernel("candidate", parameters, body));
    CheckKernels kernels(*backend_);
    const Instance instance(*backend_, kernels, family,
                            {.size = {300}, .fill = Fill::normal, .law = LawLevel{.law = law}});
    std::vector<float> x(300);
    backend_->read(instance.operands().front().region, std::as_writable_bytes(std::span(x)));
    return x;
  }
};

TEST_F(InputLawsTest, EachDrawsWhatItSays) {
  const auto x = [&](family::Law law) { return drawn(kMap, kMapParameters, "y[i] = x[i];", law); };
  const std::vector<float> zeros = x(family::Law::zeros);
  EXPECT_THAT(std::ranges::count(zeros, 0.0F), AllOf(testing::Gt(110), testing::Lt(200)))
      << "a third, and a quarter of the rest";
  EXPECT_NE(std::ranges::search_n(zeros, 100, 0.0F).begin(), zeros.end()) << "a third in a row";
  EXPECT_TRUE(std::ranges::any_of(zeros, [](float e) { return e == 0 && std::signbit(e); }));
  const std::vector<float> equal = x(family::Law::equal);
  EXPECT_THAT(equal, testing::Each(equal.front()));
  EXPECT_THAT(x(family::Law::negative), testing::Each(testing::Lt(-5.0F)));
  const std::vector<float> small = x(family::Law::small);
  EXPECT_THAT(small, testing::Each(AllOf(testing::Gt(-1e-6F), testing::Lt(1e-6F))));
  EXPECT_TRUE(
      std::ranges::any_of(small, [](float e) { return std::fpclassify(e) == FP_SUBNORMAL; }));
  EXPECT_GT(std::ranges::max(x(family::Law::wide)), 1000.0F);
  EXPECT_GT(std::ranges::max(x(family::Law::outliers)), 1000.0F);
  const std::vector<float> runs = x(family::Law::runs);
  EXPECT_TRUE(std::ranges::search_n(runs, 9, runs[0]).begin() == runs.begin() ||
              std::ranges::adjacent_find(runs) != runs.end());
}

TEST_F(InputLawsTest, FindNumbersThatOrdinaryInputsDoNotHold) {
  const auto judged = [&](std::string_view right, std::string_view wrong) {
    return message(kMap, kMapParameters, right, wrong);
  };
  EXPECT_THAT(judged("y[i] = x[i] == 0 ? 7 : x[i];", "y[i] = x[i];"), refused_under("zeros"));
  EXPECT_THAT(judged("y[i] = fmaxf(x[i], -1e4f);", "y[i] = fmaxf(x[i], -7.0f);"),
              HasSubstr("wrong_result"));
  EXPECT_THAT(judged("y[i] = log1pf(fabsf(x[i]));", "y[i] = logf(1 + fabsf(x[i]));"),
              HasSubstr("wrong_result"));
  EXPECT_THAT(
      judged("y[i] = tanhf(x[i]);", "const float e = expf(2 * x[i]); y[i] = (e - 1) / (e + 1);"),
      HasSubstr("wrong_result"));
}

TEST_F(InputLawsTest, FindThatAConstantInputIsNotRead) {
  constexpr vectors::Document kScaled = {.arguments =
                                             R"({"name": "x", "type": "float*", "count": "N"},
             {"name": "g", "type": "float*", "count": "N", "fill": {"constant": 1}},
             {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  constexpr std::string_view kParameters = "const float* x, const float* g, float* y";
  EXPECT_THAT(message(kScaled, kParameters, "y[i] = g[i] * x[i];", "y[i] = x[i];"),
              refused_under("magnitudes"));
  EXPECT_EQ(message(kScaled, kParameters, "y[i] = g[i] * x[i];", "y[i] = x[i] * g[i];"), "ok");
}

TEST_F(InputLawsTest, FindIntegersAndIndicesThatOrdinaryInputsDoNotHold) {
  EXPECT_THAT(message(kIntegers, kIntegerParameters, "y[i] = x[i] == 0 ? 32 : 0;", "y[i] = 0;"),
              HasSubstr("wrong_result"));
  EXPECT_THAT(
      message(kIntegers, kIntegerParameters, "y[i] = x[i] == -2147483647 - 1;", "y[i] = 0;"),
      HasSubstr("wrong_result"));
  // A chain of 40 elements, each of which names the one before it.
  constexpr std::string_view kDepth =
      "int v = i, c = 0; while (v > 0 && k[v] < v{}) {{ v = k[v]; ++c; }} y[i] = c + 0 * x[i];";
  EXPECT_THAT(message(kIndices, kIndexParameters, fmt::format(kDepth, ""),
                      fmt::format(kDepth, " && c < 40")),
              refused_under("small"));
}

TEST_F(InputLawsTest, OneHoldsAtTheTunedSizeAndTheSeedChoosesIt) {
  // Wrong above every check size only.
  constexpr std::string_view kRight = "y[i] = x[i] == 0 ? 7 : x[i];";
  constexpr std::string_view kWrong = "y[i] = x[i] == 0 && n < 100 ? 7 : x[i];";
  const auto with_seed = [&](std::uint64_t seed) {
    const auto verdict = judge(kMap, kMapParameters, kRight, kWrong, seed);
    return verdict ? "ok" : verdict.error().message;
  };
  EXPECT_THAT(with_seed(0), AllOf(HasSubstr("size 200"), HasSubstr("law \"zeros\"")));
  EXPECT_EQ(with_seed(4), "ok") << "law \"equal\"";
}

TEST_F(InputLawsTest, RefuseNothingThatIsRight) {
  for (const auto& [reference, candidate] :
       {std::pair{"y[i] = x[i] / 7;", "y[i] = x[i] * (1.0f / 7);"},
        std::pair{"y[i] = expf(x[i]);", "y[i] = (float)exp((double)x[i]);"},
        std::pair{"y[i] = sqrtf(x[i] * x[i] + 1);", "y[i] = hypotf(x[i], 1);"},
        std::pair{"y[i] = 1 / (1 + expf(-x[i]));", "y[i] = (float)(1 / (1 + exp(-(double)x[i])));"},
        std::pair{"y[i] = x[i] * x[i] * x[i];", "y[i] = (x[i] * x[i]) * x[i];"}}) {
    EXPECT_EQ(message(kMap, kMapParameters, reference, candidate), "ok") << candidate;
  }
}

TEST_F(InputLawsTest, AllowForSumsOfAllWhereIndicesMayBeOne) {
  constexpr vectors::Document kLong = {.arguments = kIndices.arguments, .sizes = "[1], [3000]"};
  constexpr std::string_view kInOrder =
      "float s = 0; for (int j = 0; j < n; ++j) if (k[j] == i) s += x[j]; y[i] = s;";
  constexpr std::string_view kInParts =
      "float s[2] = {0, 0}; for (int j = 0; j < n; ++j) if (k[j] == i) s[j & 1] += x[j]; "
      "y[i] = s[0] + s[1];";
  // The header keeps the reference from running in double precision, which would show its errors.
  const family::Family family = vectors::family(
      kLong, "#include <cstdint>\n" + vectors::kernel("reference", kIndexParameters, kInOrder),
      vectors::kernel("candidate", kIndexParameters, kInParts));
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Verifier verifier(*backend_, family, seed);
    const auto right = verify_configuration(*backend_, verifier, family.kernel("candidate"), {200});
    EXPECT_TRUE(right) << right.error().message;
  }
}

TEST_F(InputLawsTest, AreNotThoseThatTheFileExcludes) {
  constexpr vectors::Document kWithoutZeros = {.arguments =
                                                   R"({"name": "x", "type": "float*", "count": "N",
                       "laws": {"exclude": ["zeros"], "reason": "no row is empty"}},
                      {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  EXPECT_EQ(message(kWithoutZeros, kMapParameters, "y[i] = x[i] == 0 ? 7 : x[i];", "y[i] = x[i];"),
            "ok");
}

TEST_F(InputLawsTest, OfNumbersThatAReferenceDoesNotTakeMeanNothing) {
  const auto want = [&](std::string_view body, family::Law law) {
    const family::Family family =
        vectors::family(kMap, vectors::kernel("reference", kMapParameters, body),
                        vectors::kernel("candidate", kMapParameters, body));
    CheckKernels kernels(*backend_);
    return Instance(*backend_, kernels, family,
                    {.size = {300}, .fill = Fill::normal, .law = LawLevel{.law = law}})
        .want_of_meaning(Instance::Infinities::none);
  };
  EXPECT_EQ(want("y[i] = x[i];", family::Law::zeros), "");
  EXPECT_EQ(want("y[i] = 1 / x[i];", family::Law::zeros),
            "the reference gives NaN or infinity in y");
  EXPECT_EQ(want("y[i] = sinf(x[i] * 1e9f);", family::Law::offsets),
            "rounding errors of the inputs change the reference's results in y");
}

TEST_F(InputLawsTest, HoldWhereInfinityIsAResultOfOrdinaryInputs) {
  // The maximum of no element, as of an empty row.
  constexpr std::string_view kMaximum = "y[i] = i % 8 == 0 ? -INFINITY : {};";
  EXPECT_THAT(message(kMap, kMapParameters, fmt::format(kMaximum, "x[i] == 0 ? 7 : x[i]"),
                      fmt::format(kMaximum, "x[i]")),
              refused_under("zeros"));
}

TEST_F(InputLawsTest, ThatAreLeftOutAreListedWithTheReason) {
  const auto left_out = [&](std::string_view body) {
    const family::Family family =
        vectors::family(kMap, vectors::kernel("reference", kMapParameters, body),
                        vectors::kernel("candidate", kMapParameters, body));
    Verifier verifier(*backend_, family, 7);
    EXPECT_TRUE(verify_configuration(*backend_, verifier, family.kernel("candidate"), {200}));
    std::vector<std::string> laws;
    for (const LawLeftOut& each : verifier.laws_left_out()) {
      EXPECT_THAT(each.reason, testing::EndsWith("in y"));
      laws.push_back(each.law);
    }
    return laws;
  };
  EXPECT_THAT(left_out("y[i] = x[i];"), testing::IsEmpty());
  EXPECT_THAT(left_out("y[i] = expf(x[i] * x[i] * x[i]);"),
              testing::IsSupersetOf({"outliers", "wide"}));
}

TEST_F(InputLawsTest, ALargeResultExcusesNoSmallOne) {
  constexpr std::string_view kScaled = "y[i] = (i % 16 == 0 ? 1e-9f : 1.0f) * x[i];";
  EXPECT_EQ(message(kMap, kMapParameters, kScaled, kScaled), "ok");
  EXPECT_THAT(message(kMap, kMapParameters, kScaled, "y[i] = i % 16 == 0 ? 0 : x[i];"),
              HasSubstr("wrong_result"));
}

TEST_F(InputLawsTest, WhatToleranceTakesForAResultIsSaid) {
  constexpr vectors::Document kLoose = {.arguments = kMap.arguments,
                                        .check = R"(, "tolerance": {"absolute": 0.01})"};
  constexpr std::string_view kTiny = "y[i] = 1e-6f * x[i];";
  EXPECT_THAT(message(kLoose, kMapParameters, kTiny, "y[i] = 0;"),
              HasSubstr("all elements of y are the same number, which the tolerance takes"));
  const family::Family family =
      vectors::family(kLoose, vectors::kernel("reference", kMapParameters, kTiny),
                      vectors::kernel("candidate", kMapParameters, kTiny));
  CheckKernels kernels(*backend_);
  EXPECT_THAT(Instance(*backend_, kernels, family, {.size = {200}, .fill = Fill::normal}).caution(),
              HasSubstr("all zeros satisfy the tolerance of y, whose typical result is"));
}

TEST_F(InputLawsTest, AGuardZoneThatIsUsedAndRestoredIsFoundOnACpu) {
  for (const std::string_view place : {"y + n", "y - 1", "y + n + 40"}) {
    const std::string borrows = fmt::format(
        "y[i] = x[i]; if (i == 0) {{ volatile float* const zone = {}; const float old = *zone; "
        "*zone = x[0]; y[0] = *zone; *zone = old; }}",
        place);
    EXPECT_THAT(message(kMap, kMapParameters, "y[i] = x[i];", borrows),
                AllOf(HasSubstr("out_of_bounds"), HasSubstr("the guard zone behind")))
        << place;
  }
}

TEST_F(InputLawsTest, ChangedInputsDifferInSomeElementsAndLieInTheSameMemory) {
  const family::Family family =
      vectors::family(kMap, vectors::kernel("reference", kMapParameters, "y[i] = x[i];"),
                      vectors::kernel("candidate", kMapParameters, "y[i] = x[i];"));
  CheckKernels kernels(*backend_);
  Instance original(*backend_, kernels, family, {.size = {300}, .fill = Fill::normal});
  Instance* const changed = original.changed();
  ASSERT_NE(changed, nullptr);
  const auto read = [&] {
    std::vector<float> x(300);
    backend_->read(original.operands().front().region, std::as_writable_bytes(std::span(x)));
    return x;
  };
  const std::vector<float> before = read();
  changed->prepare_launch();
  const std::vector<float> after = read();
  std::size_t alike = 0;
  for (std::size_t i = 0; i < before.size(); ++i) alike += before[i] == after[i] ? 1U : 0U;
  EXPECT_THAT(alike, AllOf(testing::Gt(280U), testing::Lt(300U)));
  original.prepare_launch();
  EXPECT_EQ(read(), before);
  EXPECT_EQ(original.changed(), changed) << "made once";
}

}  // namespace
}  // namespace tuner::verify
