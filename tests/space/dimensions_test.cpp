// SPDX-License-Identifier: Apache-2.0
// Dimensions with defaults and kinds, and the sizes that are written with them.
#include "tuner/space/dimensions.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/size.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tuner::space {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kProblem = R"json({
  "dims": ["M", "N", "K",
           {"name": "BATCH", "default": 1, "doc": "matrices"},
           {"name": "TRANS_A", "values": [0, 1], "default": 0},
           {"name": "TRANS_B", "values": [0, 1], "default": 0},
           {"name": "LDA", "default": "TRANS_A ? M : K"}, {"name": "LDB", "default": "TRANS_B ? K : N"},
           {"name": "ALIGN", "values": [1, 2, 4], "default": 4}],
  "constraints": [{"expr": "LDA >= (TRANS_A ? M : K)", "why": "a row fits its leading dimension"}]
})json";

Dimensions parsed(std::string_view problem) {
  return parse_dimensions(parse_json(problem, "f.json"), "f.json: problem");
}

template <class Action>
std::string error(Action action) {
  try {
    static_cast<void>(action());
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::usage);
    return failure.what();
  }
  return "nothing was thrown";
}

std::string error_of(const std::string& dims, const std::string& more = "") {
  return error([&] { return parsed("{\"dims\": " + dims + more + "}"); });
}

const Dimensions& gemm() {
  static const Dimensions dims = parsed(kProblem);
  return dims;
}

std::string size_error(std::string_view text) {
  return error([&] { return parse_size(text, gemm()); });
}

TEST(Dimensions, AreThoseThatEverySizeNamesAndThenOthers) {
  EXPECT_THAT(gemm().names(),
              ElementsAre("M", "N", "K", "BATCH", "TRANS_A", "TRANS_B", "LDA", "LDB", "ALIGN"));
  EXPECT_EQ(gemm().required(), 3U);
  EXPECT_FALSE(gemm()[3].is_kind());
  EXPECT_EQ(gemm()[3].doc, "matrices");
  EXPECT_TRUE(gemm()[4].is_kind());
  EXPECT_EQ(parsed(R"({"dims": [{"name": "N", "doc": "elements"}]})").required(), 1U)
      << "one without a default is required";
}

TEST(Dimensions, MistakesNameTheirPlace) {
  EXPECT_EQ(error_of(R"([{"name": "A", "default": 1}, "B"])"),
            "f.json: problem.dims[1]: 'B' has no default, but 'A' before it has one: required "
            "dimensions come first");
  EXPECT_THAT(error_of(R"([{"name": "A", "defaults": 1}])"),
              AllOf(StartsWith("f.json: problem.dims[0]: "), HasSubstr("'default'")));
  EXPECT_THAT(error_of(R"(["N", {"name": "A", "default": "B"}, {"name": "B", "default": 1}])"),
              AllOf(StartsWith("f.json: problem.dims[1].default: "), HasSubstr("B")));
  EXPECT_THAT(error_of(R"(["N", {"name": "A", "default": "dev.sm_count"}])"),
              HasSubstr("unknown name 'dev.sm_count'"));
  EXPECT_EQ(error_of(R"(["N", {"name": "A", "values": [0, 1], "default": 2}])"),
            "f.json: problem.dims[1].default: A = 2 is none of 0, 1");
  EXPECT_EQ(error_of(R"(["N", {"name": "A", "default": 0}])"),
            "f.json: problem.dims[1].default: A = 0 is not in 1 … 2147483647");
  EXPECT_EQ(error_of(R"([{"name": "A", "values": [1, -1]}])"),
            "f.json: problem.dims[0].values[1]: must be an integer in 0 … 2147483647, is -1");
  EXPECT_EQ(error_of(R"([{"name": "A", "values": [1, 1]}])"),
            "f.json: problem.dims[0].values[1]: the value 1 appears twice");
  EXPECT_EQ(error_of(R"(["N", {"name": "N", "default": 1}])"),
            "f.json: problem.dims[1]: the dimension 'N' appears twice");
  EXPECT_EQ(error_of(R"([{"default": 1}])"), "f.json: problem.dims[0]: 'name' is missing");
  EXPECT_EQ(error_of("[3]"), "f.json: problem.dims[0]: must be a name, is a number");
  EXPECT_THAT(error_of(R"(["N"])", R"(, "constraints": [{"expr": "M > 1", "why": "w"}])"),
              StartsWith("f.json: problem.constraints[0].expr: unknown name 'M'"));
  std::string many = "[";
  for (int i = 0; i < 17; ++i) many += (i > 0 ? ", \"D" : "\"D") + std::to_string(i) + "\"";
  EXPECT_EQ(error_of(many + "]"), "f.json: problem.dims: must have at most 16 elements, has 17");
}

TEST(Size, NamesOnlyWhatIsNotItsDefault) {
  const Size plain = {1024, 512, 64, 1, 0, 0, 64, 512, 4};
  EXPECT_EQ(parse_size("1024,512,64", gemm()), plain);
  EXPECT_EQ(parse_size("1024x512x64", gemm()), plain);
  EXPECT_EQ(parse_size("N=512,K=64,M=1024,TRANS_A=0", gemm()), plain);
  EXPECT_EQ(canonical_size(plain, gemm()), "1024,512,64");
  EXPECT_EQ(display(plain, gemm()), "1024x512x64");
  EXPECT_EQ(size_json(plain, gemm()).dump(), "[1024,512,64]");

  const Size other = {1024, 512, 64, 8, 1, 0, 1024, 520, 1};
  EXPECT_EQ(parse_size("1024x512x64xTRANS_A=1,ALIGN=1,BATCH=8xLDB=520", gemm()), other);
  EXPECT_EQ(canonical_size(other, gemm()), "1024,512,64,BATCH=8,TRANS_A=1,LDB=520,ALIGN=1");
  EXPECT_EQ(parse_size(canonical_size(other, gemm()), gemm()), other);
  EXPECT_EQ(parse_size(display(other, gemm()), gemm()), other);
  EXPECT_EQ(size_from_json(size_json(other, gemm()), gemm(), "f"), other);
  EXPECT_EQ(size_from_json(parse_json("[1024, 512, 64]", "f"), gemm(), "f"), plain);
}

TEST(Size, ADefaultFollowsTheNumbersBeforeIt) {
  EXPECT_EQ(canonical_size(parse_size("64,32,16,LDA=16", gemm()), gemm()), "64,32,16");
  EXPECT_EQ(canonical_size(parse_size("64,32,16,TRANS_A=1,LDA=64", gemm()), gemm()),
            "64,32,16,TRANS_A=1");
}

TEST(Size, ANameMayHoldAnX) {
  const Dimensions dims = parsed(R"({"dims": ["Nx", {"name": "x2", "default": 1}]})");
  EXPECT_EQ(parse_size("8,x2=3", dims), (Size{8, 3}));
  EXPECT_EQ(parse_size("Nx=8", dims), (Size{8, 1}));
}

TEST(Size, SaysWhatIsWrongAndNamesTheDimension) {
  EXPECT_EQ(size_error("64,64,64,TRANS_B=2"),
            "size \"64,64,64,TRANS_B=2\": TRANS_B = 2 is none of 0, 1");
  EXPECT_EQ(size_error("64,64,0"), "size \"64,64,0\": K = 0 is not in 1 … 2147483647");
  EXPECT_EQ(size_error("64,64,64,BATCH=0"),
            "size \"64,64,64,BATCH=0\": BATCH = 0 is not in 1 … 2147483647");
  EXPECT_EQ(
      size_error("64,64,64,TRANSB=1"),
      "size \"64,64,64,TRANSB=1\": no dimension is named \"TRANSB\" (did you mean 'TRANS_B'?)");
  EXPECT_EQ(size_error("64,64,64,M=1"), "size \"64,64,64,M=1\": M is given twice");
  EXPECT_THAT(
      size_error("64,64"),
      StartsWith("size \"64,64\": 2 numbers where 3 are needed: M,N,K; others are named, as "
                 "BATCH=1 (known: BATCH, TRANS_A"));
  EXPECT_EQ(size_error("M=64,N=64"), "size \"M=64,N=64\": K is missing");
  EXPECT_EQ(size_error("BATCH=1,64"),
            "size \"BATCH=1,64\": 64 follows BATCH=…: numbers without a name come first");
  EXPECT_EQ(
      size_error("64,64,64,LDA=63"),
      "size \"64,64,64,LDA=63\": LDA >= (TRANS_A ? M : K) (a row fits its leading dimension): "
      "M=64, K=64, TRANS_A=0, LDA=63");
}

TEST(Size, ADefaultThatIsNoExtentHasToBeNamed) {
  const Dimensions dims = parsed(R"({"dims": ["N", {"name": "HALF", "default": "N // 2"}]})");
  EXPECT_EQ(error([&] { return parse_size("1", dims); }),
            "size \"1\": HALF = 0 is not in 1 … 2147483647; that is its default here (N // 2), so "
            "name it");
  EXPECT_EQ(parse_size("1,HALF=1", dims), (Size{1, 1}));
}

TEST(Size, MistakesInADocumentNameTheirPlace) {
  const auto from = [](std::string_view text) {
    return error([&] { return size_from_json(parse_json(text, "f"), gemm(), "f.json: sizes[0]"); });
  };
  EXPECT_EQ(from("7"), "f.json: sizes[0]: must be a list of numbers or an object, is a number");
  EXPECT_EQ(from("[1, 2]"), "f.json: sizes[0]: must have exactly 3 elements, has 2");
  EXPECT_EQ(from("[1, 2, 0.5]"), "f.json: sizes[0]: K must be an integer, is 0.5");
  EXPECT_EQ(from(R"({"M": 1, "N": 1, "K": "1"})"),
            "f.json: sizes[0]: K must be an integer, is a string");
  EXPECT_EQ(from(R"({"M": 1, "N": 1})"), "f.json: sizes[0]: K is missing");
  EXPECT_EQ(from(R"({"M": 1, "N": 1, "k": 1})"),
            "f.json: sizes[0]: no dimension is named \"k\" (did you mean 'K'?)");
  EXPECT_THAT(from("[1, 2, 18446744073709551615]"), HasSubstr("K must be an integer"));
}

TEST(StoredSize, KeysFromBeforeTheDimensionWasThereStayValid) {
  EXPECT_EQ(stored_size("1024,512,64", gemm()), parse_size("1024,512,64", gemm()));
  EXPECT_EQ(stored_size("1024,512,64,TRANS_B=1", {"M", "N", "K"}), std::nullopt);
  for (const char* bad : {"", "x", "1,", ",1", "1,,2", "0,1,1", "-1,1,1", "1 ,2,3",
                          "A=", "99999999999999999999,1,1", "=1", "1,1,1,=1"}) {
    EXPECT_EQ(stored_size(bad, gemm()), std::nullopt) << bad;
  }
}

TEST(NormalisedSize, IsTheKeyWhereNobodyKnowsTheDimensions) {
  EXPECT_EQ(normalised_size("1024x64,B=2xC=3"), "1024,64,B=2,C=3");
  EXPECT_EQ(error([] { return normalised_size("4k"); }),
            "size \"4k\": \"4k\" is not a whole number");
}

}  // namespace
}  // namespace tuner::space
