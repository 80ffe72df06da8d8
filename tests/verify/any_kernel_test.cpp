// SPDX-License-Identifier: Apache-2.0
// Kernels that are no sums of products, judged beside a reference kernel: the right ones are
// accepted, the wrong ones are not.
#include "tests/verify/vector_family.hpp"
#include "tuner/core/error.hpp"
#include "tuner/verify/instance.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tuner::verify {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using vectors::Document;

constexpr Document kMap = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
constexpr std::string_view kMapParameters = "const float* x, float* y";

class AnyKernelTest : public vectors::VectorsTest {};

TEST_F(AnyKernelTest, WhatIsIdenticalToItsReferenceIsRightWhateverItComputes) {
  const std::vector<std::string_view> bodies = {
      "y[i] = -x[i];",
      "y[i] = 1 - x[i];",
      "y[i] = x[n - 1 - i] - x[i];",
      "y[i] = sinf(x[i]);",
      "y[i] = logf(x[i]);",
      "y[i] = x[i] / 7;",
      "y[i] = 1 / x[i];",
      "y[i] = sqrtf(x[i]);",
      "y[i] = (i > 0 ? x[i - 1] : 0) - 2 * x[i] + (i + 1 < n ? x[i + 1] : 0);",
      "y[i] = x[i] * 1e30f * 1e30f;",
      "y[i] = 0;",
      "y[i] = floorf(x[i]);",
      "y[i] = x[i] > 0 ? x[i] : 0;",
      "y[i] = acosf(1.9f * x[i]);"};
  for (const std::string_view body : testing_support::part(bodies)) {
    EXPECT_EQ(message(kMap, kMapParameters, body, body), "ok") << body;
  }
}

TEST_F(AnyKernelTest, AFailureHasTheFirstWrongElementAndBothValues) {
  const auto element = [&](std::string_view reference, std::string_view candidate) {
    const auto verdict = judge(kMap, kMapParameters, reference, candidate);
    return verdict ? std::nullopt : verdict.error().element;
  };
  const auto wrong = element("y[i] = 2;", "y[i] = i == 3 ? 5 : 2;");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->buffer, "y");
  EXPECT_EQ(wrong->index, 3U);
  EXPECT_EQ(wrong->value, 5);
  EXPECT_EQ(wrong->expected, 2);
  EXPECT_EQ(wrong->allowed_error, 0) << "all results are whole";
  EXPECT_FALSE(wrong->is_untouched);
  const auto rounded = element("y[i] = x[i] / 7;", "y[i] = x[i] / 7 + 1;");
  ASSERT_TRUE(rounded);
  EXPECT_NEAR(rounded->value - rounded->expected, 1, 1e-6);
  EXPECT_GT(rounded->allowed_error, 0);
  const auto untouched = element("y[i] = 2;", "if (i != 4) y[i] = 2;");
  ASSERT_TRUE(untouched);
  EXPECT_EQ(untouched->index, 4U);
  EXPECT_TRUE(untouched->is_untouched);
  const auto left = element("if (i != 2) y[i] = 2;", "y[i] = 2;");
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->is_to_be_left);
  EXPECT_FALSE(element("y[i] = x[i];", "y[i] = x[i]; y[n + i % 2] = 0;")) << "out of bounds";
}

TEST_F(AnyKernelTest, WhatRoundsDifferentlyIsRight) {
  struct Pair {
    std::string_view reference, candidate;
  };
  for (const auto& [reference, candidate] :
       {Pair{"y[i] = x[i] / 7;", "y[i] = x[i] * (1.0f / 7);"},
        Pair{"y[i] = expf(x[i]);", "y[i] = exp2f(x[i] * 1.4426950408889634f);"},
        Pair{"y[i] = 1 / sqrtf(x[i] * x[i] + 1e-5f);", "y[i] = rsqrtf(fmaf(x[i], x[i], 1e-5f));"},
        Pair{"y[i] = x[i] / (1 + fabsf(x[i]));", "y[i] = x[i] * (1 / (1 + fabsf(x[i])));"},
        Pair{"float s = 0; for (int j = 0; j < n; ++j) s += x[j]; y[i] = s / n * x[i];",
             "float s = 0; for (int j = n; j-- > 0;) s += x[j]; y[i] = s * x[i] / n;"},
        Pair{"y[i] = 0.1f * x[i] + 0.2f * x[n - 1 - i] + 0.7f;",
             "y[i] = fmaf(0.2f, x[n - 1 - i], fmaf(0.1f, x[i], 0.7f));"},
        Pair{
            "float m = -1e30f, s = 0; for (int j = 0; j < n; ++j) m = fmaxf(m, x[j]);"
            "for (int j = 0; j < n; ++j) s += expf(x[j] - m); y[i] = expf(x[i] - m) / s;",
            "float m = -1e30f, s = 0; for (int j = 0; j < n; ++j) { const float k = fmaxf(m, x[j]);"
            "s = s * expf(m - k) + expf(x[j] - k); m = k; } y[i] = expf(x[i] - m) * (1 / s);"}}) {
    EXPECT_EQ(message(kMap, kMapParameters, reference, candidate), "ok") << candidate;
  }
}

TEST_F(AnyKernelTest, AReferenceHasRoundingErrorsOfItsOwnThatItsInputsDoNotShow) {
  constexpr std::string_view kUpwards =
      "float s = 0; for (int k = 1; k <= 20000; ++k) s += 1.0f / k; y[i] = s * x[i];";
  constexpr std::string_view kDownwards =
      "float s = 0; for (int k = 20000; k > 0; --k) s += 1.0f / k; y[i] = s * x[i];";
  EXPECT_EQ(message(kMap, kMapParameters, kUpwards, kDownwards), "ok");
  EXPECT_THAT(message(kMap, kMapParameters, kUpwards,
                      "float s = 0; for (int k = 20000; k > 1; --k) s += 1.0f / k;"
                      "y[i] = (s + 0.999f) * x[i];"),
              StartsWith("wrong_result"))
      << "larger than those errors";
  // The bits of a double are no float's: such a reference is judged by its inputs alone.
  EXPECT_EQ(message(kMap, kMapParameters, "y[i] = __int_as_float(__float_as_int(x[i]) & ~1);",
                    "y[i] = __int_as_float(__float_as_int(x[i]) & ~1);"),
            "ok");
}

TEST_F(AnyKernelTest, WhatIsLessPreciseThanItsTypeIsWrong) {
  // To the 11 bits of a half's or of tf32's significand.
  constexpr std::string_view kRounded =
      "__uint_as_float((__float_as_uint(x[i]) + 0x1000u) & 0xFFFFE000u)";
  for (const std::string_view function : {"-{}", "expf({})", "sinf({})", "1 / {}", "{} / 7"}) {
    const auto body = [&](std::string_view input) {
      std::string text(function);
      return "y[i] = " + text.replace(text.find("{}"), 2, input) + ";";
    };
    EXPECT_THAT(message(kMap, kMapParameters, body("x[i]"), body(kRounded)),
                HasSubstr("times the allowed error away"))
        << function;
  }
  EXPECT_THAT(message(kMap, kMapParameters, "y[i] = 3 * x[i];", "y[i] = (int)(3 * x[i]);"),
              StartsWith("wrong_result"));
}

TEST_F(AnyKernelTest, WhatIsWrongInTheTailOfAnAwkwardSizeShowsThoughItIsRightForWholeNumbers) {
  EXPECT_THAT(message(kMap, kMapParameters, "y[i] = 2 * x[i];",
                      "y[i] = i < n / 4 * 4 ? 2 * x[i] : 2 * (int)x[i];"),
              HasSubstr("size 1, normal inputs"));
}

TEST_F(AnyKernelTest, WhatMustBeEqualIsSaidToBeExact) {
  EXPECT_THAT(message(kMap, kMapParameters, "y[i] = 3 * x[i];", "y[i] = 3 * x[i] + (i == 100);"),
              HasSubstr(" exactly, since all results of the reference are whole numbers here"));
}

TEST_F(AnyKernelTest, WhatIsWholeByChanceAtOneSizeIsNotSoBecauseAllIsZeroAtTheTunedOne) {
  EXPECT_EQ(message(kMap, kMapParameters, "y[i] = n > 1 ? 0 : 19113 * x[i];",
                    "y[i] = n > 1 ? 0 : 19113 * (x[i] * 1.0000001f);"),
            "ok");
}

TEST_F(AnyKernelTest, ExactAsksForTheSameBitsOnAllInputs) {
  Document exact = kMap;
  exact.check = R"(, "exact": true)";
  EXPECT_EQ(message(exact, kMapParameters, "y[i] = x[i] / 7;", "y[i] = x[i] / 7;"), "ok");
  EXPECT_THAT(message(exact, kMapParameters, "y[i] = x[i] / 7;", "y[i] = x[i] * (1.0f / 7);"),
              HasSubstr(" exactly; "));
}

TEST_F(AnyKernelTest, AToleranceReplacesTheBoundInBothDirections) {
  Document wide = kMap;
  wide.check = R"(, "tolerance": {"relative": 1e-3, "absolute": 1e-3})";
  EXPECT_EQ(message(wide, kMapParameters, "y[i] = x[i];", "y[i] = 1.0005f * x[i];"), "ok");
  EXPECT_THAT(message(wide, kMapParameters, "y[i] = x[i];", "y[i] = 1.005f * x[i];"),
              HasSubstr("times the allowed error away"));
  Document narrow = kMap;
  narrow.check = R"(, "tolerance": {"ulp": 1})";
  EXPECT_EQ(message(narrow, kMapParameters, "y[i] = x[i] / 7;", "y[i] = x[i] * (1.0f / 7);"), "ok");
  EXPECT_THAT(message(narrow, kMapParameters, "y[i] = x[i] / 7;", "y[i] = x[i] * 0.1428573f;"),
              HasSubstr("times the allowed error away"));
}

TEST_F(AnyKernelTest, AnOutputMayHaveAToleranceOfItsOwn) {
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
        {"name": "q", "type": "signed char*", "count": "N", "role": "output",
         "tolerance": {"absolute": 1}},
        {"name": "scale", "type": "float*", "count": "N", "role": "output"})"};
  constexpr std::string_view kParameters = "const float* x, signed char* q, float* scale";
  const auto judged = [&](std::string_view candidate) {
    return message(document, kParameters,
                   "q[i] = (int)fminf(90, fmaxf(-90, 20 * x[i])); scale[i] = x[i] / 127;",
                   candidate);
  };
  EXPECT_EQ(judged("q[i] = 1 + (int)fminf(90, fmaxf(-90, 20 * x[i])); scale[i] = x[i] / 127;"),
            "ok");
  EXPECT_EQ(judged("q[i] = (int)fminf(90, fmaxf(-90, 20 * x[i])); scale[i] = x[i] * (1.0f / 127);"),
            "ok");
  EXPECT_THAT(judged("q[i] = 2 + (int)fminf(90, fmaxf(-90, 20 * x[i])); scale[i] = x[i] / 127;"),
              HasSubstr("q[0] is "));
  EXPECT_THAT(judged("q[i] = (int)fminf(90, fmaxf(-90, 20 * x[i])); scale[i] = x[i] / 127.1f;"),
              HasSubstr("scale["));
  EXPECT_THAT(judged("q[i] = (int)fminf(90, fmaxf(-90, 20 * x[i])); scale[i] = 0;"),
              HasSubstr("scale["));
}

TEST_F(AnyKernelTest, AToleranceIsOfIntegersToo) {
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
        {"name": "y", "type": "unsigned char*", "count": "N", "role": "output"})",
                             .check = R"(, "tolerance": {"absolute": 1})"};
  constexpr std::string_view kParameters = "const float* x, unsigned char* y";
  EXPECT_EQ(message(document, kParameters, "y[i] = 100 + (int)(5 * x[i]);",
                    "y[i] = 101 + (int)(5 * x[i]);"),
            "ok");
  EXPECT_THAT(message(document, kParameters, "y[i] = 100 + (int)(5 * x[i]);",
                      "y[i] = 102 + (int)(5 * x[i]);"),
              HasSubstr("2 times the allowed error away"));
}

TEST_F(AnyKernelTest, WhatReadsBesideItsInputIsFoundThoughAMinimumOrAMaximumIgnoresNaN) {
  constexpr std::string_view kReference =
      "y[i] = fmaxf(fmaxf(i > 0 ? x[i - 1] : x[i], x[i]), i + 1 < n ? x[i + 1] : x[i]);";
  constexpr std::string_view kBehind =
      "y[i] = fmaxf(fmaxf(i > 0 ? x[i - 1] : x[i], x[i]), x[i + 1]);";
  constexpr std::string_view kBefore =
      "y[i] = fmaxf(fmaxf(x[i - 1], x[i]), i + 1 < n ? x[i + 1] : x[i]);";
  EXPECT_EQ(message(kMap, kMapParameters, kReference, kReference), "ok");
  for (const std::string_view candidate : {kBehind, kBefore}) {
    EXPECT_THAT(message(kMap, kMapParameters, kReference, candidate), HasSubstr("is infinity"));
  }
  EXPECT_THAT(message(kMap, kMapParameters, "y[i] = fminf(x[i], x[0]);",
                      "y[i] = fminf(fminf(x[i], x[0]), x[n]);"),
              HasSubstr("is -infinity"));
}

TEST_F(AnyKernelTest, WhatUsesOldContentOfItsOutputIsFound) {
  EXPECT_THAT(message(kMap, kMapParameters, "y[i] = x[i];", "y[i] = fmaxf(y[i], x[i]);"),
              StartsWith("wrong_result"));
  EXPECT_THAT(message(kMap, kMapParameters, "y[i] = x[i];", "if (!(y[i] == x[i])) y[i] += x[i];"),
              StartsWith("wrong_result"));
}

constexpr Document kIntegers = {.arguments = R"({"name": "x", "type": "int*", "count": "N"},
    {"name": "y", "type": "int*", "count": "N", "role": "output"})"};

TEST_F(AnyKernelTest, IntegersThatPassThroughANarrowerTypeAreFound) {
  constexpr std::string_view kParameters = "const int* x, int* y";
  EXPECT_EQ(message(kIntegers, kParameters, "y[i] = x[i] + 1;", "y[i] = 1 + x[i];"), "ok");
  for (const std::string_view type : {"char", "short", "float"}) {
    EXPECT_THAT(message(kIntegers, kParameters, "y[i] = x[i] + 1;",
                        fmt::format("y[i] = (int)({})(x[i] + 1);", type)),
                StartsWith("wrong_result"))
        << type;
  }
  EXPECT_THAT(message(kIntegers, kParameters, "y[i] = x[i] + 1;", "y[i] = (x[i] + 1) << 8 >> 8;"),
              StartsWith("wrong_result"))
      << "24 bits";
}

TEST_F(AnyKernelTest, AnInputMustNotBeWrittenAlthoughItIsRestored) {
  EXPECT_EQ(message(kMap, kMapParameters, "y[i] = 2 * x[i];",
                    "volatile float* in = const_cast<float*>(x); const float own = in[i];"
                    "in[i] = 2 * own; y[i] = in[i]; in[i] = own;"),
            "out_of_bounds: wrote its input x, at x[0]; give an argument to write the \"role\" "
            "\"output\" or \"inout\" (size "
            "1, whole-number inputs, seed 7)");
}

TEST_F(AnyKernelTest, AWriteThatIsTakenBackIsFoundWhereNoFurtherSizesAreChecked) {
  constexpr Document kAlone = {.arguments = kMap.arguments, .sizes = ""};
  EXPECT_EQ(message(kAlone, kMapParameters, "y[i] = 2 * x[i];", "y[i] = x[i] + x[i];"), "ok");
  EXPECT_THAT(message(kAlone, kMapParameters, "y[i] = 2 * x[i];",
                      "volatile float* in = const_cast<float*>(x); const float own = in[i];"
                      "in[i] = 2 * own; y[i] = in[i]; in[i] = own;"),
              HasSubstr("out_of_bounds: wrote its input x, at x[0]"));
  EXPECT_THAT(message(kAlone, kMapParameters, "y[i] = 2 * x[i];",
                      "y[i] = 2 * x[i]; volatile float* end = y + n; const float own = *end;"
                      "if (i == 70) { *end = own + 1; *end = own; }"),
              HasSubstr("out_of_bounds: wrote the guard zone behind y, 0 bytes from"));
}

constexpr std::string_view kUpdate =
    R"({"name": "a", "type": "float", "value": 0.5}, {"name": "x", "type": "float*", "count": "N"},
       {"name": "y", "type": "float*", "count": "N", "role": "inout"})";
constexpr std::string_view kUpdateParameters = "float a, const float* x, float* y";

TEST_F(AnyKernelTest, ABufferIsUpdatedInPlace) {
  const Document document = {.arguments = kUpdate};
  EXPECT_EQ(message(document, kUpdateParameters, "y[i] = a * x[i] + y[i];",
                    "y[i] = fmaf(a, x[i], y[i]);"),
            "ok");
  EXPECT_THAT(message(document, kUpdateParameters, "y[i] = a * x[i] + y[i];", "y[i] = a * x[i];"),
              StartsWith("wrong_result"));
  EXPECT_THAT(message(document, kUpdateParameters, "y[i] = a * x[i] + y[i];", "(void)y[i];"),
              StartsWith("wrong_result"))
      << "does nothing";
}

TEST_F(AnyKernelTest, CasesAreCheckedOnFewValuedNumbersToo) {
  const Document document = {.arguments = R"({"name": "a", "type": "int", "value": 1},
      {"name": "x", "type": "int*", "count": "N"},
      {"name": "y", "type": "int*", "count": "N", "role": "output"})",
                             .check = R"(, "cases": [{"set": {"a": 3}}])"};
  EXPECT_THAT(message(document, "int a, const int* x, int* y", "y[i] = a * x[i];",
                      "y[i] = a == 3 && x[i] == 2 ? 0 : a * x[i];"),
              AllOf(StartsWith("wrong_result"), HasSubstr("few-valued inputs"), HasSubstr("a=3")));
}

TEST_F(AnyKernelTest, ContinuousInputsAreNeitherWholeNorOftenEqual) {
  // The inverse of a difference of neighbours, whose sign is lost where they are equal.
  Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
      {"name": "y", "type": "float*", "count": "N", "role": "output"})",
                       .sizes = "[5], [67]"};
  constexpr std::string_view kParameters = "const float* x, float* y";
  constexpr std::string_view kReference = "y[i] = 1 / (x[i] - x[(i + 1) % n]);";
  constexpr std::string_view kRight = "y[i] = -1 / (x[(i + 1) % n] - x[i]);";
  EXPECT_THAT(message(document, kParameters, kReference, kRight),
              AllOf(StartsWith("wrong_result"), HasSubstr("infinity")));
  document.check = R"(, "continuous": true)";
  EXPECT_EQ(message(document, kParameters, kReference, kRight), "ok");
  EXPECT_THAT(message(document, kParameters, kReference, "y[i] = 1 / (x[(i + 1) % n] - x[i]);"),
              StartsWith("wrong_result"));
}

TEST_F(AnyKernelTest, AnOutputBeginsAsZeros) {
  const Document document = {.arguments = R"(
      {"name": "x", "type": "int*", "count": "N", "fill": {"integers": [0, 9]}},
      {"name": "bins", "type": "int*", "count": 10, "role": "output", "initial": "zero"})"};
  constexpr std::string_view kParameters = "const int* x, int* bins";
  EXPECT_EQ(
      message(document, kParameters, "atomicAdd(&bins[x[i]], 1);", "atomicAdd(bins + x[i], 1);"),
      "ok");
  EXPECT_THAT(message(document, kParameters, "atomicAdd(&bins[x[i]], 1);",
                      "if (i != 4) atomicAdd(&bins[x[i]], 1);"),
              StartsWith("wrong_result"));
}

TEST_F(AnyKernelTest, AnArrayMayCopyABuffer) {
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "f", "type": "float*", "count": 2},
    {"name": "g", "type": "float[]", "count": 2, "fill": {"copy": "f"}},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  constexpr std::string_view kParameters = "const float* x, const float* f, float2 g, float* y";
  EXPECT_EQ(
      message(document, kParameters, "y[i] = f[0] * x[i] + f[1];", "y[i] = g.x * x[i] + g.y;"),
      "ok");
}

TEST_F(AnyKernelTest, IndicesStayInTheirRange) {
  const Document document = {.arguments = R"(
      {"name": "from", "type": "int*", "count": "N", "fill": "permutation"},
      {"name": "x", "type": "float*", "count": "N"},
      {"name": "y", "type": "float*", "count": "N", "role": "output"})"};
  constexpr std::string_view kParameters = "const int* from, const float* x, float* y";
  EXPECT_EQ(message(document, kParameters, "y[i] = x[from[i]];", "y[i] = x[from[i]];"), "ok");
  EXPECT_EQ(message(document, kParameters, "y[from[i]] = x[i];", "y[from[i]] = x[i];"), "ok");
  EXPECT_THAT(message(document, kParameters, "y[i] = x[from[i]];", "y[i] = x[i];"),
              StartsWith("wrong_result"));
}

TEST_F(AnyKernelTest, AFamilyMayBeNondeterministic) {
  Document document = kMap;
  constexpr std::string_view kCounting =
      "static int launches; y[i] = 3.3f * x[i]; if (i == 0) ++launches;"
      "if (launches % 2) y[i] = __uint_as_float(__float_as_uint(y[i]) ^ 1);";
  EXPECT_THAT(message(document, kMapParameters, "y[i] = 3.3f * x[i];", kCounting),
              HasSubstr(R"("deterministic": false)"));
  document.check = R"(, "deterministic": false)";
  EXPECT_EQ(message(document, kMapParameters, "y[i] = 3.3f * x[i];", kCounting), "ok");
}

TEST_F(AnyKernelTest, AReferenceThatNeedsOldContentIsToldToTheAuthor) {
  for (const std::string_view body : {"y[i] += x[i];", "y[i] = y[i] > 0 ? 1 : x[i];"}) {
    try {
      static_cast<void>(message(kMap, kMapParameters, body, body));
      ADD_FAILURE() << body;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(R"(give the argument "role": "inout")"));
    }
  }
}

TEST_F(AnyKernelTest, AReferenceThatReadsBesideItsBuffersIsToldToTheAuthor) {
  constexpr Document kInPlace = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
      {"name": "y", "type": "float*", "count": "N", "role": "inout"})"};
  for (const Document& document : {kMap, kInPlace}) {
    for (const std::string_view body : {"y[i] = x[i] + x[i + 1];", "y[i] = x[i - 1] - x[i];"}) {
      try {
        static_cast<void>(message(document, kMapParameters, body, body));
        ADD_FAILURE() << body;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_THAT(error.what(),
                    HasSubstr("1 of 200 results of the reference in y depend on what lies beside "
                              "its buffers: it reads outside of them"));
      }
    }
  }
  constexpr std::string_view kUnused = "const float next = x[i + 1]; y[i] = i + 1 < n ? next : 0;";
  EXPECT_EQ(message(kMap, kMapParameters, kUnused, "y[i] = i + 1 < n ? x[i + 1] : 0;"), "ok")
      << "what is read there is not used";
}

TEST_F(AnyKernelTest, AReferenceThatGivesOtherResultsEachTimeIsToldToTheAuthor) {
  // Each launch of the process takes the next number.
  constexpr std::string_view kChance = "static float launches; y[i] = x[i] + (i ? 0 : ++launches);";
  try {
    static_cast<void>(message(kMap, kMapParameters, kChance, kChance));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1 of 200 results of the reference in y differ between two "
                                        "launches on the same inputs"));
  }
  Document document = kMap;
  document.check = R"(, "tolerance": {"absolute": 1e9}, "deterministic": false)";
  EXPECT_EQ(message(document, kMapParameters, kChance, kChance), "ok");
}

TEST_F(AnyKernelTest, AReferenceThatGivesNoNumbersIsToldToTheAuthor) {
  constexpr std::string_view kNan = "y[i] = sqrtf(-1 - x[i] * x[i]);";
  try {
    static_cast<void>(message(kMap, kMapParameters, kNan, "y[i] = logf(-1 - x[i] * x[i]);"));
    ADD_FAILURE() << "any kernel that stores NaN would pass";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("all results of the reference in y are NaN"));
  }
  constexpr std::string_view kSome = "y[i] = i % 3 ? sqrtf(-1 - x[i] * x[i]) : x[i];";
  EXPECT_EQ(message(kMap, kMapParameters, kSome, kSome), "ok");
}

TEST_F(AnyKernelTest, AReferenceThatWritesBesideItsOutputIsToldToTheAuthor) {
  const auto refusal = [&](std::string_view reference, const Document& document,
                           std::string_view parameters) {
    try {
      static_cast<void>(message(document, parameters, reference, reference));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::failure);
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto of_map = [&](std::string_view reference) {
    return refusal(reference, kMap, kMapParameters);
  };
  EXPECT_EQ(of_map("y[i] = x[i];"), "none");
  EXPECT_EQ(of_map("y[i] = x[i]; if (i == 0) y[n + 2] = 1;"),
            "the reference wrote y[202], outside of its 200 elements: correct the kernel or its "
            "launch (size 200, whole-number inputs, seed 7)");
  EXPECT_THAT(of_map("y[i] = x[i]; if (i == 66) y[-1] = x[i];"),
              StartsWith("the reference wrote y[-1], outside of its 200 elements"));
  const Document bytes = {.arguments = R"({"name": "x", "type": "u8*", "count": "N"},
      {"name": "y", "type": "u8*", "count": "N", "role": "inout", "offset": 4})"};
  constexpr std::string_view kBytes = "const unsigned char* x, unsigned char* y";
  EXPECT_EQ(refusal("y[i] += x[i];", bytes, kBytes), "none");
  EXPECT_THAT(refusal("y[i] += x[i]; if (i == 0) y[n + 8] = 1;", bytes, kBytes),
              StartsWith("the reference wrote y[208]"));
}

TEST_F(AnyKernelTest, AReferenceThatCannotBeLaunchedIsNamedWithTheSize) {
  Document none = kMap;
  none.sizes = "[1]";
  family::Family family =
      vectors::family(none, vectors::kernel("reference", kMapParameters, "y[i] = 1;"),
                      vectors::kernel("candidate", kMapParameters, "y[i] = 1;"));
  ASSERT_EQ(family.kernels.front().name, "reference");
  family.kernels.front().steps.front().grid.front() = space::Expression::constant(0);
  Verifier verifier(*backend_, family, 7);
  try {
    static_cast<void>(verify_configuration(*backend_, verifier, family.kernel("candidate"), {200}));
    ADD_FAILURE() << "without a reference";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the reference kernel reference cannot run at 200: "
                                        "launch_error: kernel reference: launch.grid[0]"));
  }
}

TEST_F(AnyKernelTest, ALaunchThatACheckSizeMakesImpossibleNamesIt) {
  family::Family family =
      vectors::family(kMap, vectors::kernel("reference", kMapParameters, "y[i] = 1;"),
                      vectors::kernel("candidate", kMapParameters, "y[i] = 1;"));
  family::Kernel& candidate = family.kernels.back();
  candidate.steps.front().grid.front() =
      space::Expression::compile("N // 64 + N // 200", candidate.space->scope).value();
  Verifier verifier(*backend_, family, 7);
  const auto verdict = verify_configuration(*backend_, verifier, family.kernel("candidate"), {200});
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().outcome, Outcome::launch_error);
  EXPECT_THAT(
      verdict.error().message,
      HasSubstr("launch.grid[0] = N // 64 + N // 200 is 0, outside of 1 … 2147483647 (at size "
                "1: if \"check\" asks for it, change the launch or take the size out)"));
}

TEST_F(AnyKernelTest, AReferenceOfZerosIsCautionedOf) {
  const auto caution = [&](std::string_view body, const Document& document,
                           std::string_view parameters) {
    const std::string reference = vectors::kernel("reference", parameters, body);
    const family::Family family = vectors::family(document, reference, reference);
    CheckKernels kernels(*backend_);
    return Instance(*backend_, kernels, family, {.size = {200}, .fill = Fill::normal}).caution();
  };
  EXPECT_EQ(caution("y[i] = i == 199 ? x[i] : 0;", kMap, kMapParameters), "");
  EXPECT_THAT(caution("y[i] = -0.0f;", kMap, kMapParameters),
              StartsWith("all results of the reference in y are 0"));
  const Document zeroed = {.arguments = R"({"name": "x", "type": "u8*", "count": "N"},
      {"name": "y", "type": "u8*", "count": "N", "role": "output", "initial": "zero"})"};
  constexpr std::string_view kBytes = "const unsigned char* x, unsigned char* y";
  EXPECT_THAT(caution("(void)y[i];", zeroed, kBytes),
              StartsWith("all results of the reference in y are 0"));
  EXPECT_EQ(caution("y[i] = 128;", zeroed, kBytes), "");
}

TEST_F(AnyKernelTest, CasesHoldAtTheTunedSizeToo) {
  const Document document = {.arguments = kUpdate,
                             .check = R"(, "cases": [{"set": {"a": -1.5}, "why": "a is used"}])"};
  EXPECT_THAT(message(document, kUpdateParameters, "y[i] += a * x[i];",
                      "y[i] += (i >= 150 ? 0.5f : a) * x[i];"),
              HasSubstr("size 200, normal inputs, seed 7, a=-1.5"));
}

TEST_F(AnyKernelTest, ElementsAndNumbersOfOtherTypesAreVerified) {
  for (const std::string_view type : {"unsigned char", "short", "unsigned long long"}) {
    const std::string buffers = fmt::format(
        R"({{"name": "k", "type": "{0}", "value": 3}}, {{"name": "x", "type": "{0}*", "count": "N"}},
           {{"name": "y", "type": "{0}*", "count": "N", "role": "output"}})",
        type);
    const Document document = {.arguments = buffers};
    const std::string parameters = fmt::format("{0} k, const {0}* x, {0}* y", type);
    EXPECT_EQ(message(document, parameters, "y[i] = x[i] + k;", "y[i] = k + x[i];"), "ok") << type;
    EXPECT_THAT(message(document, parameters, "y[i] = x[i] + k;", "y[i] = x[i] + k + (i == 66);"),
                StartsWith("wrong_result"))
        << type;
    EXPECT_THAT(message(document, parameters, "y[i] = x[i] + k;",
                        "y[i] = x[i] + k; if (i == 0) y[n + 8] = 1;"),
                StartsWith("out_of_bounds"))
        << type;
  }
}

TEST_F(AnyKernelTest, NoSeedRaisesAFalseAlarm) {
  for (const std::uint64_t seed : vectors::seeds()) {
    const auto verdict = judge(
        kMap, kMapParameters, "y[i] = expf(x[i]) - 0.3f * x[n - 1 - i] - x[i] / 3;",
        "y[i] = fmaf(-0.3f, x[n - 1 - i], exp2f(x[i] * 1.44269504f)) - x[i] * (1.0f / 3);", seed);
    ASSERT_TRUE(verdict) << seed << ": " << verdict.error().message;
    EXPECT_LT(verdict->worst_error, 0.8) << seed;
  }
}

}  // namespace
}  // namespace tuner::verify
