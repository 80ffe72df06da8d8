// SPDX-License-Identifier: Apache-2.0
// Outputs whose elements may be in any order, or of which only some count.
#include "tests/support/part.hpp"
#include "tests/verify/vector_family.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using vectors::Document;

/// The elements above 0.
constexpr Document kCompaction = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "order": "any"},
    {"name": "count", "type": "int*", "count": 1, "role": "output", "initial": "zero"})"};
constexpr std::string_view kCompactionParameters = "const float* x, float* out, int* count";
constexpr std::string_view kPlainCompaction =
    "if (i == 0) { int k = 0; for (int j = 0; j < n; ++j) if (x[j] > 0) out[k++] = x[j];"
    "*count = k; }";

/// Four lists of room for N numbers each; keys say to which a number belongs.
constexpr std::string_view kBuckets = R"({"name": "keys", "type": "int*", "count": "N",
      "fill": {"integers": [0, 3]}},
    {"name": "lists", "type": "int*", "count": "4*N", "role": "output", "order": "any",
     "valid": "counts"},
    {"name": "counts", "type": "int*", "count": 4, "role": "output", "initial": "zero"})";
constexpr std::string_view kBucketParameters = "const int* keys, int* lists, int* counts";
constexpr std::string_view kPlainBuckets =
    "if (i == 0) for (int j = 0; j < n; ++j) lists[keys[j] * n + counts[keys[j]]++] = 10 * j;";

/// A hash table with linear probing, keys and values apart.
constexpr Document kTable = {.arguments = R"({"name": "x", "type": "int*", "count": "N",
      "fill": "permutation"},
    {"name": "keys", "type": "int*", "count": "2*N", "role": "inout", "fill": {"constant": -1},
     "order": "any"},
    {"name": "values", "type": "short*", "count": "2*N", "role": "output", "initial": "zero",
     "order": {"as": "keys"}})"};
constexpr std::string_view kTableParameters = "const int* x, int* keys, short* values";
constexpr std::string_view kInsert =
    "int slot = x[{0}] * 7 / 3 % (2 * n); while (keys[slot] != -1) slot = (slot + 1) % (2 * n);"
    "keys[slot] = x[{0}]; values[slot] = (short)({1});";

/// Pairs in one buffer.
constexpr Document kPairs = {.arguments = R"({"name": "x", "type": "int*", "count": "N"},
    {"name": "out", "type": "int*", "count": "2*N", "role": "output", "order": {"record": 2}})"};
constexpr std::string_view kPairParameters = "const int* x, int* out";

class RecordOrderTest : public vectors::VectorsTest {
 protected:
  std::string compaction(std::string_view candidate) {
    return message(kCompaction, kCompactionParameters, kPlainCompaction, candidate);
  }
  std::string buckets(std::string_view candidate) {
    return message({.arguments = kBuckets}, kBucketParameters, kPlainBuckets, candidate);
  }
  /// What the author of a file reads.
  std::string error(const Document& document, std::string_view parameters,
                    std::string_view reference) {
    try {
      static_cast<void>(message(document, parameters, reference, reference));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "ok";
  }
};

TEST_F(RecordOrderTest, AnyOrderIsRight) {
  EXPECT_EQ(compaction("if (x[i] > 0) out[atomicAdd(count, 1)] = x[i];"), "ok");
  EXPECT_EQ(compaction("if (i == 0) { int k = 0; for (int j = n; j-- > 0;) if (x[j] > 0) out[k++] "
                       "= x[j]; *count = k; }"),
            "ok");
}

TEST_F(RecordOrderTest, WhatIsMissingIsNamedAndWhatIsThereInstead) {
  EXPECT_THAT(compaction("if (x[i] > 0) { const int k = atomicAdd(count, 1);"
                         "if (k != 3) out[k] = x[i]; }"),
              AllOf(StartsWith("wrong_result: out: value "), HasSubstr(" is expected "),
                    HasSubstr("; 1 of "), HasSubstr(" elements are missing; not expected: value "),
                    HasSubstr(" at out[3], as before the launch (size ")));
  EXPECT_THAT(compaction("if (x[i] > 0) out[atomicAdd(count, 1)] = i == 60 ? 1e30f : x[i];"),
              HasSubstr("not expected: value 1e+30 at out["));
  EXPECT_THAT(compaction("if (x[i] > 0) out[atomicAdd(count, 1)] = i == 60 ? x[0] : x[i];"),
              StartsWith("wrong_result: out: value "))
      << "an element twice, another one lost";
}

TEST_F(RecordOrderTest, WhatTheReferenceLeavesUnwrittenIsLeft) {
  EXPECT_THAT(compaction("if (x[i] > 0) out[atomicAdd(count, 1)] = x[i];"
                         "if (i == 66) out[66] = x[66];"),
              HasSubstr("out[66] is 1, should be left unwritten"));
  // Right numbers, with a gap.
  EXPECT_THAT(compaction("if (x[i] > 0) { const int k = atomicAdd(count, 1);"
                         "out[k == 0 && n > 60 ? 60 : k] = x[i]; }"),
              StartsWith("wrong_result"));
}

TEST_F(RecordOrderTest, AWrongCountIsReportedFirst) {
  EXPECT_THAT(compaction("if (x[i] > 0) out[atomicAdd(count, 1)] = x[i];"
                         "if (i == 4) atomicAdd(count, 1);"),
              StartsWith("wrong_result: count[0] is "));
  EXPECT_THAT(compaction("if (x[i] > 0 && i != 4) out[atomicAdd(count, 1)] = x[i];"),
              StartsWith("wrong_result: count[0] is "));
}

TEST_F(RecordOrderTest, ACountIsExactWhateverElseMayDiffer) {
  Document wide = kCompaction;
  wide.check = R"(, "tolerance": {"absolute": 1.5})";
  EXPECT_THAT(message(wide, kCompactionParameters, kPlainCompaction,
                      "if (x[i] > 0) out[atomicAdd(count, 1)] = x[i];"),
              StartsWith("ok"));
  Document counted = wide;
  counted.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "valid": "count"},
    {"name": "count", "type": "int*", "count": 1, "role": "output", "initial": "zero"})";
  EXPECT_THAT(message(counted, kCompactionParameters, kPlainCompaction,
                      "if (i == 0) { int k = 0; for (int j = 0; j < n; ++j) if (x[j] > 0) "
                      "out[k++] = x[j]; *count = k + 1; }"),
              StartsWith("wrong_result: count[0] is "));
}

TEST_F(RecordOrderTest, RoundingErrorsHaveTheirBound) {
  constexpr std::string_view kReference =
      "if (i == 0) { int k = 0; for (int j = 0; j < n; ++j) if (x[j] > 0) out[k++] = x[j] / 7;"
      "*count = k; }";
  const auto scaled = [&](std::string_view value) {
    return message(kCompaction, kCompactionParameters, kReference,
                   fmt::format("if (x[i] > 0) out[atomicAdd(count, 1)] = {};", value));
  };
  EXPECT_EQ(scaled("x[i] * (1.0f / 7)"), "ok");
  EXPECT_THAT(scaled("x[i] * 0.1429f"),
              AllOf(StartsWith("wrong_result: in sorted order out["),
                    HasSubstr("times the allowed error away; "), HasSubstr("wrong elements: ")));
  EXPECT_THAT(scaled("i == 40 ? 0.25f : x[i] / 7"),
              AllOf(HasSubstr(" is expected 1 time, found 0 times; 1 of "),
                    HasSubstr("not expected: value 0.25 at out[")))
      << "a few that are lost are no rounding errors";
}

TEST_F(RecordOrderTest, EqualNumbersOfOtherBitsAreRight) {
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "order": "any"})"};
  EXPECT_EQ(message(document, "const float* x, float* out", "out[i] = x[i] > 0 ? 0 : NAN;",
                    "out[n - 1 - i] = x[i] > 0 ? -0.0f : -NAN;"),
            "ok");
}

TEST_F(RecordOrderTest, LaunchesMayDifferInTheOrderOnly) {
  const auto rotated = [](std::string_view flipped) {
    return fmt::format(
        "static int launches; if (i == 0) {{ ++launches; for (int j = 0; j < n; ++j) "
        "out[(j + launches) % n] = __uint_as_float(__float_as_uint(3.3f * x[j]) ^ {}); }}",
        flipped);
  };
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "order": "any"})"};
  const auto judged = [&](std::string_view candidate) {
    return message(document, "const float* x, float* out", "out[i] = 3.3f * x[i];", candidate);
  };
  EXPECT_EQ(judged(rotated("0")), "ok");
  EXPECT_THAT(judged(rotated("(j == 9 && launches % 2)")),
              AllOf(StartsWith("nondeterministic: on the same input out has value "),
                    HasSubstr(" in one launch and "), HasSubstr(R"("deterministic": false)")));
}

TEST_F(RecordOrderTest, RecordsStayTogether) {
  constexpr std::string_view kReference = "out[2 * i] = x[i]; out[2 * i + 1] = i;";
  EXPECT_EQ(message(kPairs, kPairParameters, kReference,
                    "const int k = n - 1 - i; out[2 * k] = x[i]; out[2 * k + 1] = i;"),
            "ok");
  EXPECT_THAT(message(kPairs, kPairParameters, kReference,
                      "const int k = n - 1 - i; out[2 * k] = x[i]; out[2 * k + 1] = k;"),
              AllOf(StartsWith("wrong_result: out: record ("), HasSubstr(" records are missing")))
      << "the same numbers, paired otherwise";
}

TEST_F(RecordOrderTest, OutputsOfOneOrderBelongTogether) {
  const auto insert = [&](std::string_view of, std::string_view value) {
    return fmt::format("if (i == 0) for (int j = 0; j < n; ++j) {{ {} }}",
                       fmt::format(fmt::runtime(kInsert), of, value));
  };
  const std::string reference = insert("j", "x[j] + 5");
  EXPECT_EQ(message(kTable, kTableParameters, reference, insert("n - 1 - j", "x[n - 1 - j] + 5")),
            "ok");
  EXPECT_THAT(message(kTable, kTableParameters, reference, insert("n - 1 - j", "x[j] + 5")),
              AllOf(StartsWith("wrong_result: keys, values: record ("),
                    HasSubstr("not expected: record ("), HasSubstr(" at keys[")));
}

TEST_F(RecordOrderTest, RecordsStayInTheirRowWhereEachHasACount) {
  EXPECT_EQ(buckets("lists[keys[i] * n + atomicAdd(&counts[keys[i]], 1)] = 10 * i;"), "ok");
  EXPECT_EQ(buckets("lists[keys[i] * n + atomicAdd(&counts[keys[i]], 1)] = 10 * i;"
                    "if (i == 0) for (int j = 0; j < 4; ++j) {"
                    "int k = 0; for (int m = 0; m < n; ++m) k += keys[m] == j;"
                    "if (k < n) lists[j * n + n - 1] = 5; }"),
            "ok")
      << "what does not count is not compared";
  EXPECT_THAT(buckets("const int key = i == 3 && keys[3] != keys[4] ? keys[4] : keys[i];"
                      "const int of = i == 4 && keys[3] != keys[4] ? keys[3] : keys[i];"
                      "lists[of * n + atomicAdd(&counts[of], 1)] = 10 * i;"
                      "if (key != of && i == 3) counts[0] += 0;"),
              StartsWith("wrong_result"));
  EXPECT_THAT(buckets("lists[keys[i] * n + atomicAdd(&counts[keys[i]], 1)] = 10 * i + (i == 66);"),
              AllOf(StartsWith("wrong_result: row "), HasSubstr(" of lists: value 66")));
}

TEST_F(RecordOrderTest, RowsMayBeginWhereABufferSays) {
  const Document document = {.arguments = R"({"name": "keys", "type": "int*", "count": "N",
      "fill": {"integers": [0, 3]}},
    {"name": "sorted", "type": "int*", "count": "N", "role": "output",
     "order": {"within": "starts"}},
    {"name": "starts", "type": "int*", "count": 5, "role": "output"})"};
  constexpr std::string_view kParameters = "const int* keys, int* sorted, int* starts";
  const auto sort = [](std::string_view step) {
    return fmt::format(
        "if (i == 0) {{ int k = 0; for (int b = 0; b < 4; ++b) {{ starts[b] = k;"
        "for (int j = 0; j < n; ++j) {{ const int m = {}; if (keys[m] == b) sorted[k++] = m; }} }}"
        "starts[4] = k; }}",
        step);
  };
  EXPECT_EQ(message(document, kParameters, sort("j"), sort("n - 1 - j")), "ok");
  EXPECT_THAT(message(document, kParameters, sort("j"),
                      sort("j") + "if (i == 0) { const int m = sorted[0]; sorted[0] = sorted[n - "
                                  "1]; sorted[n - 1] = m; }"),
              StartsWith("wrong_result: row "))
      << "the same numbers, in other rows";
  EXPECT_THAT(error(document, kParameters, sort("j") + "if (i == 0) starts[2] = n + 1;"),
              HasSubstr("sorted: its rows must begin at ascending records up to "));
}

TEST_F(RecordOrderTest, RowsMayHaveOneLength) {
  const Document document = {.arguments = R"({"name": "x", "type": "int*", "count": "N"},
    {"name": "out", "type": "int*", "count": "N", "role": "output", "order": {"within": 2}})"};
  EXPECT_EQ(
      message(document, kPairParameters, "out[i] = x[i];", "out[(i ^ 1) < n ? i ^ 1 : i] = x[i];"),
      "ok");
  EXPECT_THAT(message(document, kPairParameters, "out[i] = x[i];", "out[n - 1 - i] = x[i];"),
              StartsWith("wrong_result: row 0 of out: value "));
}

TEST_F(RecordOrderTest, WithoutAnOrderElementsThatCountAreComparedInPlace) {
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "valid": "N // 2"})"};
  constexpr std::string_view kParameters = "const float* x, float* out";
  EXPECT_EQ(message(document, kParameters, "out[i] = x[i] / 7;",
                    "out[i] = i < n / 2 ? x[i] * (1.0f / 7) : 5;"),
            "ok");
  EXPECT_THAT(message(document, kParameters, "out[i] = x[i];",
                      "out[i] = i < n / 2 - 1 ? x[i] : x[n - 1 - i];"),
              HasSubstr("out[1] is "));
}

TEST_F(RecordOrderTest, ElementsOfEveryWidthMayBeInAnyOrder) {
  for (const std::string_view type :
       {"unsigned char", "signed char", "short", "unsigned long long", "double"}) {
    const std::string buffers = fmt::format(
        R"({{"name": "x", "type": "{0}*", "count": "N"}},
           {{"name": "out", "type": "{0}*", "count": "N", "role": "output", "order": "any"}})",
        type);
    const Document document = {.arguments = buffers};
    const std::string parameters = fmt::format("const {0}* x, {0}* out", type);
    EXPECT_EQ(message(document, parameters, "out[i] = x[i];", "out[n - 1 - i] = x[i];"), "ok")
        << type;
    EXPECT_THAT(
        message(document, parameters, "out[i] = x[i];",
                "out[n - 1 - i] = i == 4 ? x[i] ^ 1 : x[i];"),
        type == "double" ? StartsWith("compile_error") : StartsWith("wrong_result: out: value"))
        << type;
  }
}

TEST_F(RecordOrderTest, ListsOfEveryWidthMayBeShorterThanTheirBuffer) {
  const std::vector<std::string_view> types = {"bf16", "unsigned char", "short", "long long",
                                               "float"};
  for (const std::string_view type : testing_support::part(types)) {
    const std::string buffers = fmt::format(
        R"({{"name": "x", "type": "{0}*", "count": "N"}},
           {{"name": "out", "type": "{0}*", "count": "N", "role": "output", "order": "any"}},
           {{"name": "count", "type": "int*", "count": 1, "role": "output", "initial": "zero"}})",
        type);
    const Document document = {.arguments = buffers};
    const bool is_brain = type == "bf16";
    const std::string parameters =
        fmt::format("const {0}* x, {0}* out, int* count", is_brain ? "unsigned short" : type);
    const auto compact = [&](std::string_view then) {
      return fmt::format("if ({} > 1.5f) {{ int k = atomicAdd(count, 1); {} out[k] = x[i]; }}",
                         is_brain ? "__uint_as_float((unsigned)x[i] << 16)" : "(float)x[i]", then);
    };
    for (const std::uint64_t seed : testing_support::part<std::uint64_t>({0, 1, 2, 3})) {
      // The reference's own order changes, too.
      const auto verdict = judge(document, parameters, compact(""), compact(""), seed);
      EXPECT_TRUE(verdict) << type << " " << seed << ": " << verdict.error().message;
    }
    EXPECT_THAT(message(document, parameters, compact(""), compact("if (k == 2) return;")),
                StartsWith("wrong_result: out: value "))
        << type;
  }
}

TEST_F(RecordOrderTest, NoSeedRaisesAFalseAlarm) {
  for (const std::uint64_t seed : vectors::seeds()) {
    const auto verdict = judge(kCompaction, kCompactionParameters, kPlainCompaction,
                               "if (x[i] > 0) out[atomicAdd(count, 1)] = x[i];", seed);
    ASSERT_TRUE(verdict) << seed << ": " << verdict.error().message;
  }
}

TEST_F(RecordOrderTest, ARecordIsWrittenWholly) {
  EXPECT_THAT(error(kPairs, kPairParameters, "out[2 * i] = x[i];"),
              HasSubstr("the reference writes only a part of record 0 of out: give out "
                        "\"initial\": \"zero\""));
}

TEST_F(RecordOrderTest, AReferenceThatDependsOnOldContentIsToldToTheAuthor) {
  const Document document = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "order": "any"})"};
  EXPECT_THAT(error(document, "const float* x, float* out", "out[i] += x[i];"),
              HasSubstr(R"(give the argument "role": "inout")"));
}

}  // namespace
}  // namespace tuner::verify
