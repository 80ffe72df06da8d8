// SPDX-License-Identifier: Apache-2.0
// Dimensions with defaults and kinds, and the sizes that are written with them.
#include "tuner/space/dimensions.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/definition.hpp"
#include "tuner/space/device.hpp"
#include "tuner/space/size.hpp"
#include "tuner/space/space.hpp"

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
  EXPECT_EQ(from("[1, 2]"),
            "f.json: sizes[0]: must have exactly 3 numbers (M, N, K), has 2; to set BATCH, "
            "TRANS_A, TRANS_B, LDA, LDB, ALIGN too, write an object with the names");
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

constexpr std::string_view kTyped = R"json({
  "dims": ["M", "N",
           {"name": "TRANS", "values": [0, 1], "default": 0},
           {"name": "TYPE", "default": "f32",
            "types": {"f32": {"A": "f32", "C": "float", "compute": "f32"},
                      "bf16": {"A": "bf16", "C": "f32", "compute": "f32"},
                      "int8": {"A": "s8", "C": "s32", "compute": "s32"}}}]
})json";

TEST(Types, AreADimensionWhoseValuesHaveNames) {
  const Dimensions dims = parsed(kTyped);
  const Size plain = parse_size("64x32", dims), brain = parse_size("64,32,TYPE=bf16", dims);
  EXPECT_EQ(canonical_size(plain, dims), "64,32") << "as before there were types";
  EXPECT_EQ(parse_size("64,32,TYPE=f32", dims), plain);
  EXPECT_EQ(canonical_size(brain, dims), "64,32,TYPE=bf16");
  EXPECT_EQ(display(parse_size("64,32,TYPE=int8,TRANS=1", dims), dims), "64x32,TRANS=1,TYPE=int8");
  EXPECT_EQ(stored_size("64,32,TYPE=bf16", dims), brain);
  EXPECT_EQ(stored_size("64,32", dims), plain);
  EXPECT_EQ(stored_size("64,32,TYPE=fp4", dims), std::nullopt) << "which another version knows";
  EXPECT_EQ(size_from_json(size_json(brain, dims), dims, "f"), brain);
  EXPECT_EQ(size_json(brain, dims).dump(), R"({"M":64,"N":32,"TYPE":"bf16"})");
  EXPECT_EQ(size_json(plain, dims).dump(), "[64,32]");
  EXPECT_EQ(normalised_size("64x32,TYPE=bf16"), "64,32,TYPE=bf16");
  EXPECT_EQ(dims[3].types.at("A").at(1), ElementType::bf16);
  EXPECT_EQ(error([&] { return parse_size("64,32,TYPE=bf61", dims); }),
            "size \"64,32,TYPE=bf61\": TYPE = bf61 is none of f32, bf16, int8 (did you mean "
            "'bf16'?)");
  EXPECT_EQ(error([&] { return parse_size("64,32,TYPE=1", dims); }),
            "size \"64,32,TYPE=1\": TYPE = 1 is none of f32, bf16, int8");
  EXPECT_EQ(error([&] { return parse_size("64,32,TYPE=", dims); }),
            "size \"64,32,TYPE=\": a number is missing; TYPE is one of f32, bf16, int8");
  EXPECT_EQ(error([&] { return parse_size("64,32,bf16", dims); }),
            "size \"64,32,bf16\": \"bf16\" is not a whole number; write TYPE=bf16");
}

TEST(Types, HaveBytesInExpressionsAndNamesInConditions) {
  const Dimensions dims = parsed(kTyped);
  const Scope scope = family_scope(dims);
  const auto value = [&](std::string_view text, std::string_view size) {
    const auto compiled = Expression::compile(text, scope);
    EXPECT_TRUE(compiled) << text;
    ExpressionValues values(attribute_fields().size(), 0);
    const Size numbers = parse_size(size, dims);
    values.insert(values.end(), numbers.begin(), numbers.end());
    return compiled ? *compiled->evaluate(values) : -1;
  };
  EXPECT_EQ(value("M*N*bytes(A) + N*bytes(C)", "8,2"), 8 * 2 * 4 + 2 * 4);
  EXPECT_EQ(value("M*N*bytes(A) + N*bytes(C)", "8,2,TYPE=bf16"), 8 * 2 * 2 + 2 * 4);
  EXPECT_EQ(value("bytes(A)", "8,2,TYPE=int8"), 1);
  EXPECT_EQ(value("TYPE == 'bf16' ? 1 : 0", "8,2,TYPE=bf16"), 1);
  EXPECT_EQ(value("TYPE in ['f32', 'int8']", "8,2,TYPE=bf16"), 0);
  EXPECT_THAT(Expression::compile("bytes(weights)", scope).error().message,
              HasSubstr("bytes takes the name of a type (known: A, C, compute)"));
  EXPECT_THAT(Expression::compile("TYPE + 1", scope).error().message, HasSubstr("word"));
  EXPECT_THAT(Expression::compile("bytes(A)", family_scope(gemm())).error().message,
              HasSubstr("unknown function 'bytes'"));
}

TEST(Types, MistakesNameTheirPlace) {
  const auto typed = [](const std::string& types,
                        const std::string& more = R"(, "default": "f32")") {
    return error_of(R"(["M", {"name": "TYPE", "types": )" + types + more + "}]");
  };
  const std::string where = "f.json: problem.dims[1]";
  EXPECT_EQ(typed(R"({"f32": {"A": "f23"}})"),
            where + ".types.f32.A: unknown type \"f23\" (did you mean 'f32'?)");
  EXPECT_EQ(typed(R"({"f32": {"A": "f32"}, "f64": {"B": "f64"}})"),
            where + ".types.f64: has a type 'B', which a choice before it does not have");
  EXPECT_EQ(typed(R"({"f32": {"A": "f32", "B": "f32"}, "f64": {"B": "f64"}})"),
            where + ".types.f64: lacks the type 'A', which another choice has");
  EXPECT_EQ(typed(R"({"f32": {"A": "f32"}})", ""),
            where + ".default: must be one of the types: f32");
  EXPECT_EQ(typed(R"({"f32": {"A": "f32"}})", R"(, "default": "f33")"),
            where + ".default: is no type of 'TYPE' (did you mean 'f32'?)");
  EXPECT_EQ(typed(R"({"f32": {"A": "f32"}})", R"(, "default": "f32", "values": [1])"),
            where + ": has both 'values' and 'types': take one");
  EXPECT_THAT(error_of(R"([{"name": "T", "types": {"f32": {"A": "f32"}}, "default": "f32"},
                            {"name": "U", "types": {"f32": {"B": "f32"}}, "default": "f32"}])"),
              HasSubstr("a problem has one dimension of types"));
}

TEST(NormalisedSize, IsTheKeyWhereTheDimensionsAreUnknown) {
  EXPECT_EQ(normalised_size("1024x64,B=2xC=3"), "1024,64,B=2,C=3");
  EXPECT_EQ(error([] { return normalised_size("4k"); }),
            "size \"4k\": \"4k\" is not a whole number");
}

}  // namespace
}  // namespace tuner::space
