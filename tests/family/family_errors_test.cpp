// SPDX-License-Identifier: Apache-2.0
// What a user reads who made a mistake in a space file.
#include "sample.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/parse.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tuner::family {
namespace {

using sample::altered;
using sample::kDocument;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string error(std::string_view document) {
  return sample::usage_error([&] { return sample::parse(document); });
}

/// The message after one alteration of the sample.
std::string error(std::string_view from, std::string_view to) {
  return error(altered(kDocument, from, to));
}

TEST(SpaceFile, IsNamedWhenItIsNoJson) {
  EXPECT_EQ(error(""), "axpy.json: the file is empty");
  EXPECT_THAT(error(kDocument.substr(0, kDocument.size() / 2)),
              StartsWith("axpy.json: not valid JSON at line "));
  EXPECT_THAT(error(std::string(10'000, '[') + std::string(10'000, ']')),
              HasSubstr("nested deeper"));
  EXPECT_EQ(error(R"({"format": "space/1", "format": "space/1"})"),
            "axpy.json: the key \"format\" appears twice in one object");
  EXPECT_EQ(error("[]"), "axpy.json: must be an object, is an array");
}

TEST(SpaceFile, NamesAllMistakesWithLineAndColumn) {
  std::string wrong(kDocument);
  for (const auto& [from, to] :
       {std::pair<std::string_view, std::string_view>{R"("doc": "y = 2x + y")",
                                                      R"("docs": "y = 2x + y")"},
        {R"("type": "float", "value": 2)", R"("type": "flaot", "value": 2)"},
        {R"("default": 64)", R"("default": 65)"},
        {R"("SPAN <= 128")", R"("SPAM <= 128")"}}) {
    wrong = altered(wrong, from, to);
  }
  try {
    static_cast<void>(sample::parse(wrong));
    FAIL() << "accepted";
  } catch (const Error& error) {
    const FileErrors placed = with_places(error, wrong, "axpy.json");
    EXPECT_EQ(placed.what(), placed.errors().at(0).message + "\n" + placed.errors().at(1).message +
                                 "\n" + placed.errors().at(2).message + "\n" +
                                 placed.errors().at(3).message);
    ASSERT_EQ(placed.errors().size(), 4U) << placed.what();
    const auto is_at = [&](std::size_t i, std::size_t line, std::string_view place,
                           std::string_view message) {
      const FileError& one = placed.errors()[i];
      EXPECT_THAT(one.message, StartsWith(message));
      EXPECT_EQ(one.line, line) << one.message;
      std::size_t start = 0;
      for (std::size_t l = 1; l < one.line; ++l) start = wrong.find('\n', start) + 1;
      EXPECT_THAT(wrong.substr(start + one.column - 1), StartsWith(place)) << one.message;
    };
    is_at(0, 4, R"("docs")", "axpy.json:4:3: unknown key \"docs\"");
    is_at(1, 8, R"("flaot")", "axpy.json:8:31: arguments[1].type: ");
    is_at(2, 25, "65", "axpy.json:25:55: kernels.plain.parameters.BLOCK.default: ");
    is_at(3, 30, R"("SPAM <= 128")", "axpy.json:30:32: kernels.plain.constraints[0].expr: ");
  }
}

TEST(SpaceFile, OfAnotherFormatIsRefusedWithTheFormatsUnderstood) {
  EXPECT_EQ(error("space/1", "space/2"),
            "axpy.json: format: is \"space/2\", but this program understands \"space/1\"; a newer "
            "version of it may understand this file");
  EXPECT_EQ(error("space/1", "T1"),
            "axpy.json: format: is \"T1\", but this program understands \"space/1\"");
  EXPECT_EQ(error("\"space/1\"", "1"), "axpy.json: format: must be \"space/1\"");
  EXPECT_EQ(error(R"({"family": "f"})"), "axpy.json: the key \"format\" is missing");
}

TEST(SpaceFile, WithoutItsWorkIsToldWhatToWrite) {
  EXPECT_EQ(error("\"flops\": \"2*N\", ", ""),
            "axpy.json: problem: the key \"flops\" is missing: write the floating-point operations "
            "at a size, for the rate, such as \"flops\": \"2*N\", or 0");
}

TEST(SpaceFile, ACheckOfAnotherFormIsToldWhatToWrite) {
  EXPECT_EQ(error(R"({"kernel": "plain"})", R"("plain")"),
            R"(axpy.json: check.reference: must be {"kernel": NAME} of a correct kernel of this )"
            R"(file, {"op": …}, {"results": FOLDER} or {"npy": …})");
  EXPECT_EQ(error(R"("check": {)", R"("check": {"tolerance": 1e-5, )"),
            "axpy.json: check.tolerance: must be an object (keys: relative, absolute, ulp), is a "
            "number");
}

TEST(SpaceFile, ContinuousInputsNeedAReferenceKernel) {
  constexpr std::string_view kByKernel = R"("reference": {"kernel": "plain"})";
  const std::string kernel(kByKernel);
  EXPECT_TRUE(sample::parse(
                  sample::altered(sample::kDocument, kByKernel, kernel + R"(, "continuous": true)"))
                  .check.continuous);
  EXPECT_THAT(
      error(kByKernel,
            R"("continuous": true, "reference": {"op": "gemm", "m": "N", "n": 1, "k": 1, "a": "x",
               "b": "x", "c": "y"})"),
      StartsWith("axpy.json: check.continuous: applies to reference kernels and results only"));
}

TEST(SpaceFile, UnknownKeysAreNamedAtEveryLevel) {
  EXPECT_EQ(error("\"kernels\"", "\"kernel\""),
            "axpy.json: unknown key \"kernel\" (did you mean 'kernels'?)");
  EXPECT_EQ(error("\"flops\"", "\"flop\""),
            "axpy.json: problem: unknown key \"flop\" (did you mean 'flops'?)");
  EXPECT_THAT(
      error("\"count\"", "\"counts\""),
      StartsWith("axpy.json: arguments[2]: unknown key \"counts\" (did you mean 'count'?)"));
  EXPECT_THAT(error("\"why\": \"alpha", "\"because\": \"alpha"),
              StartsWith("axpy.json: check.cases[0]: unknown key \"because\""));
  EXPECT_EQ(error("\"source\"", "\"sources\""),
            "axpy.json: kernels.plain: unknown key \"sources\" (did you mean 'source'?)");
  EXPECT_EQ(error("\"grid\"", "\"grids\""),
            "axpy.json: kernels.plain.launch: unknown key \"grids\" (did you mean 'grid'?)");
}

TEST(SpaceFile, WrongTypesAreNamed) {
  EXPECT_EQ(error("\"plain.cu\"", "3"),
            "axpy.json: kernels.plain.source: must be a string, is a number");
  EXPECT_EQ(error("[\"N\"]", "\"N\""), "axpy.json: problem.dims: must be an array, is a string");
  EXPECT_EQ(error("[\"N\"]", "[]"), "axpy.json: problem.dims: must have at least 1 element, has 0");
  EXPECT_EQ(
      error("\"2*N\"", "true"),
      "axpy.json: problem.flops: must be an expression (a string) or an integer, is a boolean");
  EXPECT_EQ(error("\"2*N\"", "2.5"), "axpy.json: problem.flops: must be a 64-bit integer, is 2.5");
  EXPECT_EQ(error("[1000]", "[1000, 2]"),
            "axpy.json: problem.sizes.small[0]: must have exactly 1 number (N), has 2");
  EXPECT_EQ(error("[1000]", "[0]"),
            "axpy.json: problem.sizes.small[0]: N = 0 is not in 1 … 2147483647");
  EXPECT_EQ(error("[\"BLOCK\"],", "[1, 1, 1, 1],"),
            "axpy.json: kernels.plain.launch.block: must have at most 3 elements, has 4");
}

TEST(SpaceFile, NamesAreIdentifiers) {
  EXPECT_EQ(error("\"axpy\"", "\"../axpy\""),
            "axpy.json: family: \"../axpy\" is not a name: a name is a letter or _ followed by at "
            "most 63 letters, digits or _");
  EXPECT_THAT(
      error("\"plain\": {", R"("<script>alert(1)</script>": {)"),
      StartsWith("axpy.json: kernels: the key \"<script>alert(1)</script>\" is not a name"));
  EXPECT_THAT(error("\"plain\": {", R"("a\"b": {)"),
              StartsWith(R"(axpy.json: kernels: the key "a\"b" is not a name)"));
  EXPECT_THAT(error("\"plain\": {", R"("../plain": {)"), HasSubstr("\"../plain\" is not a name"));
  EXPECT_THAT(error("\"x\"", "\"" + std::string(65, 'x') + "\""), HasSubstr("is not a name"));
  EXPECT_EQ(error("[\"N\"]", "[\"N\", \"N\"]"),
            "axpy.json: problem.dims[1]: the dimension 'N' appears twice");
  EXPECT_EQ(error("[\"N\"]", "[\"min\"]"),
            "axpy.json: problem.dims[0]: 'min' is a reserved word of expressions");
  EXPECT_EQ(error("\"name\": \"x\"", "\"name\": \"y\""),
            "axpy.json: arguments[3]: the argument 'y' appears twice");
}

TEST(SpaceFile, MistakesInExpressionsAreUnderlined) {
  const std::string message = error("ceil_div(N, SPAN*WAVES)", "ceil_div(N, SPAM*WAVES)");
  EXPECT_THAT(message, StartsWith("axpy.json: kernels.plain.launch.grid[0]: unknown name 'SPAM'"));
  EXPECT_THAT(message, HasSubstr("did you mean 'SPAN'?"));
  EXPECT_THAT(message, HasSubstr("    ceil_div(N, SPAM*WAVES)\n                ^^^^"));
  EXPECT_THAT(error("\"8*N\"", "\"8*\""), StartsWith("axpy.json: problem.bytes: "));
  EXPECT_THAT(error("\"8*N\"", "{\"at_most\": \"8*\"}"),
              StartsWith("axpy.json: problem.bytes.at_most: "));
  EXPECT_THAT(error("\"8*N\"", "{\"most\": \"8*N\"}"), StartsWith("axpy.json: problem.bytes: "));
}

TEST(SpaceFile, WhatAFamilyComputesDoesNotDependOnTheDevice) {
  EXPECT_THAT(error("\"2*N\"", "\"dev.sm_count*N\""),
              StartsWith("axpy.json: problem.flops: uses a device attribute"));
}

TEST(SpaceFile, QuantitiesMustMakeSenseAtItsOwnSizes) {
  EXPECT_EQ(
      error("\"2*N\"", "\"N/3\""),
      "axpy.json: problem.flops: \"N/3\" has no value (not a whole number) at the size 1 of this "
      "file; it must be at least 0");
  EXPECT_EQ(error(R"("count": "N"})", R"("count": "N - 1"})"),
            "axpy.json: the count of argument 'x': \"N - 1\" is 0 at the size 1 of this file; it "
            "must be at least 1");
  EXPECT_EQ(
      error(R"("count": "N"})", R"("count": "N", "offset": "1 - N"})"),
      "axpy.json: the offset of argument 'x': \"1 - N\" is -30 at the size 31 of this file; it "
      "must be at least 0");
  EXPECT_THAT(error("\"2*N\"", "\"9000000000000000000*N\""), HasSubstr("has no value (overflow"));
}

TEST(SpaceFile, AlignmentsMustMakeSenseAtItsOwnSizes) {
  const auto aligned = [](const std::string& what) {
    return error(R"("count": "N"})", R"("count": "N", )" + what + "}");
  };
  EXPECT_EQ(
      aligned(R"("align": 12)"),
      "axpy.json: argument 'x': its align \"12\" is 12; it must be a power of two from 4, the "
      "bytes of an element, to 256 (at the size 1 of this file)");
  EXPECT_THAT(aligned(R"("align": 2)"), HasSubstr("from 4, the bytes of an element"));
  EXPECT_THAT(aligned(R"("align": 512)"), HasSubstr("to 256"));
  EXPECT_THAT(aligned(R"("align": "8/N")"), HasSubstr("has no value: not a whole number"));
  EXPECT_THAT(aligned(R"("align": "4 - N")"), HasSubstr("its align"));
  EXPECT_THAT(aligned(R"("align": 16, "offset": 2)"),
              HasSubstr("its offset \"2\" is 8 bytes, not a multiple of its align, 16"));
}

TEST(SpaceFile, ArgumentsAreChecked) {
  EXPECT_THAT(error(R"("type": "float*", "count": "N", "role": "output")",
                    R"("type": "float*", "count": "N", "role": "input")"),
              StartsWith("axpy.json: arguments: no argument is an output"));
  EXPECT_EQ(error("\"output\"", "\"outputs\""),
            "axpy.json: arguments[3].role: unknown role \"outputs\" (did you mean 'output'?)");
  EXPECT_THAT(error("\"int\"", "\"complex\""),
              AllOf(StartsWith("axpy.json: arguments[0].type: unknown type \"complex\" (known: "),
                    HasSubstr("__nv_bfloat16"), HasSubstr(" bf16,"),
                    EndsWith("); a buffer's type ends in *, an array's in []")));
  EXPECT_THAT(error("\"int\"", "\"complex\""), Not(HasSubstr("tf32, tf32")));
  EXPECT_THAT(error("\"float*\"", "\"bool*\""), HasSubstr("unknown type \"bool\" (write u8)"));
  EXPECT_THAT(error("\"float*\"", "\"__nv_bfloat*\""),
              HasSubstr("unknown type \"__nv_bfloat\" (did you mean '__nv_bfloat16'?)"));
  EXPECT_EQ(
      error("\"int\"", "\"half\""),
      "axpy.json: arguments[0].type: numbers passed by value cannot be of type \"__half\": let "
      "the kernel take a float and convert it");
}

TEST(SpaceFile, FillsAndInitialContentAreChecked) {
  const std::string x = R"("type": "float*", "count": "N"})", y = R"("role": "output")";
  const auto input = [&](const std::string& rest) {
    return error(x, R"("type": "float*", "count": "N", )" + rest + "}");
  };
  const auto output = [&](const std::string& rest) { return error(y, rest); };
  EXPECT_THAT(input(R"("fill": "norma")"),
              HasSubstr("unknown fill \"norma\" (did you mean 'normal'?)"));
  EXPECT_THAT(input(R"("fill": {"positive": [1, 2]})"),
              HasSubstr(R"(write "fill": "positive"; it has no bounds)"));
  EXPECT_THAT(input(R"("fill": {"uniform": [1, 1]})"),
              HasSubstr("fill.uniform: must be [LOW, HIGH], LOW below HIGH"));
  EXPECT_THAT(error("\"type\": \"float*\", \"count\": \"N\"}",
                    "\"type\": \"int*\", \"count\": \"N\", \"fill\": {\"uniform\": [0, 1]}}"),
              HasSubstr("has no meaning for elements of type 'int': write \"integers\""));
  EXPECT_THAT(input(R"("laws": {"exclude": ["zero"], "reason": "none"})"),
              HasSubstr("unknown law \"zero\" (did you mean 'zeros'?)"));
  EXPECT_THAT(input(R"("laws": {"exclude": ["zeros"]})"), HasSubstr("reason"));
  EXPECT_THAT(input(R"("laws": {"exclude": ["zeros"], "reason": ""})"),
              HasSubstr("is empty: say what the laws would break"));
  EXPECT_THAT(input(R"("fill": {"integers": [1]})"),
              HasSubstr("must have exactly 2 elements, has 1"));
  EXPECT_THAT(input(R"("fill": {"integers": [1, 2], "constant": 1})"),
              HasSubstr("exactly one key: integers, "));
  EXPECT_THAT(error(x, "\"type\": \"float4*\", \"count\": \"N\"}"),
              HasSubstr("no type is \"float4\": write \"float*\", a \"count\" of 4 for each, and "
                        "\"align\": 16; by value \"float[]\""));
  EXPECT_THAT(input(R"("fill": {"integers": [2, 1]})"), HasSubstr("LOW not above HIGH"));
  const auto bytes = [&](const std::string& fill) {
    return error(x, R"("type": "u8*", "count": "N", "fill": )" + fill + "}");
  };
  EXPECT_THAT(
      bytes(R"({"integers": [0, 256]})"),
      HasSubstr("fill.integers[1]: is 256; elements of type 'unsigned char' are from 0 to 255"));
  EXPECT_THAT(bytes(R"({"constant": -1})"), HasSubstr("fill.constant: is -1; elements of type"));
  EXPECT_THAT(bytes(R"({"constant": 0.5})"), HasSubstr("fill.constant: has a fraction"));
  EXPECT_THAT(bytes(R"({"values": [1, 0.5]})"), HasSubstr("fill.values[1]: has a fraction"));
  EXPECT_THAT(bytes(R"({"values": ["N", 300]})"), HasSubstr("fill.values[1]: is 300"));
  EXPECT_THAT(
      input(R"("fill": {"copy": "w"})"),
      HasSubstr("no buffer or array before this argument is named \"w\" and has elements of "
                "type 'float'"));
  EXPECT_THAT(input(R"("tolerance": {"ulp": 1})"), HasSubstr("is of an output"));
  EXPECT_THAT(output(R"("role": "output", "tolerance": {"ulp": 0})"),
              HasSubstr("tolerance.ulp: must be above 0"));
  EXPECT_THAT(input(R"("initial": "zero")"), HasSubstr("the content of an input is its \"fill\""));
  EXPECT_THAT(output(R"("role": "inout", "initial": "zero")"), HasSubstr("must be \"input\""));
  EXPECT_THAT(output(R"("role": "output", "initial": "zeros")"), HasSubstr("did you mean 'zero'?"));
  EXPECT_THAT(output(R"("role": "output", "initial": "zero", "fill": "normal")"),
              HasSubstr("fill: is never used"));
  EXPECT_THAT(output(R"("role": "output", "initial": 0)"),
              HasSubstr("initial: must be \"poison\", \"zero\" or \"input\""));
}

TEST(SpaceFile, NumbersByValueMayHaveAFraction) {
  const auto value = [](std::string_view text) {
    const Family family =
        sample::parse(altered(kDocument, R"("type": "float", "value": 2)",
                              fmt::format(R"("type": "float", "value": {})", text)));
    return scalar_value(std::get<ScalarArgument>(family.arguments[1].what), "alpha",
                        family_values({8}));
  };
  EXPECT_EQ(value("0.5"), Scalar(0.5F));
  EXPECT_EQ(value("\"1e-5\""), Scalar(1e-5F));
  EXPECT_EQ(value("\"N//2\""), Scalar(4.0F));
  EXPECT_THAT(error(R"("type": "int", "value": "N")", R"("type": "int", "value": 0.5)"),
              HasSubstr("has a fraction; an argument of type 'int' is a whole number"));
}

TEST(SpaceFile, ValuesFitTheirTypesAtEverySizeOfTheFile) {
  const auto value = [](const std::string& type, const std::string& text) {
    return error(R"("type": "int", "value": "N")",
                 R"("type": ")" + type + R"(", "value": ")" + text + "\"");
  };
  EXPECT_EQ(
      value("unsigned char", "N"),
      "axpy.json: argument 'N' = N: 1000 does not fit an argument of type 'unsigned char' (at "
      "the size 1000 of this file)");
  EXPECT_THAT(value("unsigned", "N - 2"), HasSubstr("'N' = N - 2: -1 does not fit"));
  EXPECT_THAT(value("int", "7//(N-1)"), HasSubstr("has no value at this size: division by zero"));
}

TEST(SpaceFile, ArraysByValueAreSmallInputs) {
  const std::string x = R"("type": "float*", "count": "N"})";
  const auto array = [&](const std::string& rest) {
    return altered(kDocument, x, R"("type": "float[]", )" + rest + "}");
  };
  EXPECT_EQ(error(array(R"("count": "N", "role": "output")")),
            "axpy.json: arguments[2].role: an array by value is always an input: remove the role, "
            "or make the argument a buffer, \"float*\"");
  EXPECT_EQ(error(array(R"("count": "N", "align": 8)")),
            "axpy.json: arguments[2].align: an array by value is aligned by the compiler: remove "
            "the alignment, or make the argument a buffer, "
            "\"float*\"");
  EXPECT_EQ(error(array(R"("count": "N", "offset": 1)")),
            "axpy.json: arguments[2].offset: an array by value has no offset: remove it, or make "
            "the argument a buffer, \"float*\"");
  EXPECT_EQ(error(array(R"("value": "N")")),
            "axpy.json: arguments[2]: unknown key \"value\" (known: name, type, count, fill, laws, "
            "symbol)");
  EXPECT_THAT(error(altered(array(R"("count": "N")"), "float[]", "complex[]")),
              StartsWith("axpy.json: arguments[2].type: unknown type \"complex\" (known: "));
  EXPECT_NO_THROW(sample::parse(altered(array(R"("count": "N")"), "float[]", "half[]")));
  EXPECT_EQ(error(array(R"("count": "N - 1")")),
            "axpy.json: argument 'x': its count \"N - 1\" is 0; an array has at least 1 element "
            "(at the size 1 of this file)");
  EXPECT_THAT(error(array(R"("count": "7//(N-1)+1")")),
              HasSubstr("argument 'x': its count \"7//(N-1)+1\" has no value: division by zero"));
  EXPECT_NO_THROW(sample::parse(array(R"("count": 1024)")));
  EXPECT_EQ(error(array(R"("count": "2*N")")),
            "axpy.json: argument 'x': its count \"2*N\" is 2000, which are 8000 bytes of float; an "
            "array by value has at most 4096, the size of kernel parameters that every GPU "
            "supports: make "
            "the argument a buffer, \"float*\", or take a smaller size (at the size 1000 of "
            "this file)");
  EXPECT_THAT(error(array(R"("count": "9000000000000000000")")), HasSubstr("by value has at most"));
}

TEST(SpaceFile, WhatTakesBuffersOrNumbersTakesNoArrays) {
  const std::string array =
      altered(kDocument, R"("type": "float*", "count": "N"})", R"("type": "float[]", "count": 3})");
  const std::string reference = R"({"kernel": "plain"})";
  EXPECT_EQ(
      error(altered(array, reference,
                    R"({"op": "gemm", "m": "N", "n": 1, "k": 1, "a": "x", "b": "x", "c": "y"})")),
      "axpy.json: check.reference.a: must name an input buffer; 'x' is an array by value: give "
      "it the type \"float*\"");
  EXPECT_EQ(error(altered(array, R"("reads": ["y"])", R"("reads": ["x"])")),
            "axpy.json: check.cases[0].reads[0]: must name an output buffer; 'x' is an array by "
            "value: give it the type \"float*\"");
  EXPECT_EQ(
      error(altered(array, R"({"alpha": 3})", R"({"x": 3})")),
      "axpy.json: check.cases[0].set.x: must name a number that is passed by value; 'x' is an "
      "array");
  EXPECT_EQ(error(altered(array, "\"launch\": {",
                          R"("tensor_maps": [{"name": "t", "buffer": "x", "extents": ["N"],
                             "strides": [], "box": [32]}], "launch": {)")),
            "axpy.json: kernels.plain.tensor_maps[0].buffer: neither the family nor the kernel has "
            "a buffer \"x\"");
}

TEST(SpaceFile, ReferencesMustNameWhatThereIs) {
  EXPECT_EQ(error(R"({"kernel": "plain"})", R"({"kernel": "plai"})"),
            "axpy.json: no kernel is named \"plai\" (did you mean 'plain'?)");
  EXPECT_THAT(error(R"({"kernel": "plain"})", R"({"op": "gemv"})"),
              StartsWith("axpy.json: check.reference.op: unknown operation \"gemv\""));
  const std::string gemm =
      R"({"op": "gemm", "m": "N", "n": 1, "k": 1, "a": "x", "b": "x", "c": "y")";
  EXPECT_NO_THROW(sample::parse(altered(kDocument, R"({"kernel": "plain"})", gemm + "}")));
  EXPECT_EQ(error(R"({"kernel": "plain"})", altered(gemm, R"("a": "x")", R"("a": "xx")") + "}"),
            "axpy.json: check.reference.a: no argument is named \"xx\" (did you mean 'x'?)");
  EXPECT_EQ(error(R"({"kernel": "plain"})", altered(gemm, R"("c": "y")", R"("c": "x")") + "}"),
            "axpy.json: check.reference.c: must name an output buffer; 'x' is none");
  EXPECT_EQ(
      error(R"({"kernel": "plain"})", gemm + R"(, "alpha": "x"})"),
      "axpy.json: check.reference.alpha: must name a number that is passed by value; 'x' is a "
      "buffer");
  EXPECT_EQ(
      error(R"({"kernel": "plain"})", gemm + R"(, "ldc": 0})"),
      "axpy.json: gemm: ldc is 0, less than a row of c is long: 1 at the size 1 of this file");
  EXPECT_EQ(error(R"({"kernel": "plain"})", gemm + R"(, "trans_a": "N"})"),
            "axpy.json: check.reference.trans_a: \"N\" is 31; it must be 0 or 1 at the size 31 of "
            "this file");
  EXPECT_EQ(error(R"({"alpha": 3})", R"({"alpa": 3})"),
            "axpy.json: check.cases[0].set.alpa: no argument is named \"alpa\" (did you mean "
            "'alpha'?)");
  EXPECT_EQ(error(R"("reads": ["y"])", R"("reads": ["x"])"),
            "axpy.json: check.cases[0].reads[0]: must name an output buffer; 'x' is none");
}

TEST(SpaceFile, ResultsFromFilesAreOfOneSizeAndOneContentOfTheInputs) {
  constexpr std::string_view kText = R"({
    "format": "space/1", "family": "axpy",
    "problem": {"dims": ["N"], "flops": "2*N", "bytes": "8*N"},
    "arguments": [
      {"name": "N", "type": "int", "value": "N"},
      {"name": "x", "type": "float*", "count": "N", "fill": {"npy": "x.npy"}},
      {"name": "z", "type": "float*", "count": "N", "fill": {"copy": "x"}},
      {"name": "y", "type": "float*", "count": "N", "role": "output"}],
    "check": {"reference": {"npy": {"y": "y.npy"}, "size": [100]}, "tolerance": {"ulp": 4}},
    "kernels": {"plain": {"source": "plain.cu", "entry": "plain",
                          "launch": {"grid": [1], "block": [1]}}}})";
  EXPECT_THAT(sample::parse(kText).sizes("default"), testing::ElementsAre(space::Size{100}));
  const auto message = [&](std::string_view from, std::string_view to) {
    return error(altered(kText, from, to));
  };
  EXPECT_EQ(message("{\"y\": \"y.npy\"}", "{\"x\": \"y.npy\"}"),
            "axpy.json: check.reference.npy.x: 'x' is no output");
  EXPECT_EQ(message("{\"y\": \"y.npy\"}", "{}"),
            "axpy.json: check.reference.npy: has no file for the output 'y'");
  EXPECT_THAT(message("{\"y\": \"y.npy\"}", "{\"yy\": \"y.npy\"}"),
              HasSubstr("no argument is named \"yy\" (did you mean 'y'?)"));
  EXPECT_THAT(message("[100]", "[0]"), StartsWith("axpy.json: check.reference.size"));
  EXPECT_THAT(message("{\"npy\": \"x.npy\"}", "\"normal\""),
              HasSubstr("the values of 'x' are random: give it those inputs, \"fill\": {\"npy\": "
                        "\"x.npy\"}"));
  EXPECT_THAT(message(", \"tolerance\": {\"ulp\": 4}", ""),
              HasSubstr("check: results from files need a tolerance"));
  EXPECT_NO_THROW(sample::parse(altered(kText, "\"tolerance\": {\"ulp\": 4}", "\"exact\": true")));
  EXPECT_THAT(message("\"ulp\": 4}", "\"ulp\": 4}, \"sizes\": [[1]]"),
              StartsWith("axpy.json: check.sizes: applies only to results other than"));
  EXPECT_THAT(message("\"block\": [1]}", "\"block\": [1]}, \"check_sizes\": [[1]]"),
              StartsWith("axpy.json: kernels.plain.check_sizes: lists other sizes"));
}

TEST(SpaceFile, ASumOfMatricesNeedsMatricesOfOneTypeAndSaysNothingOfOnesItDoesNotName) {
  const std::string reference = R"({"kernel": "plain"})";
  const std::string geam = R"({"op": "geam", "m": "N", "n": 1, "a": "x", "c": "y")";
  EXPECT_NO_THROW(sample::parse(altered(kDocument, reference, geam + "}")));
  EXPECT_NO_THROW(sample::parse(altered(kDocument, reference, geam + R"(, "b": "x", "ldb": 2})")));
  EXPECT_EQ(error(reference, geam + R"(, "ldb": 2})"),
            "axpy.json: check.reference.ldb: needs a matrix b, which the operation does not have");
  EXPECT_THAT(error(reference, geam + R"(, "k": 2})"),
              StartsWith("axpy.json: check.reference: unknown key \"k\""));
  EXPECT_EQ(error(altered(altered(kDocument, R"("x", "type": "float*")", R"("x", "type": "int*")"),
                          reference, geam + "}")),
            "axpy.json: check.reference: the buffers a and c of \"geam\" must be all float* or all "
            "double*, all u16* or all u8*");
  EXPECT_EQ(
      error(reference, geam + R"(, "lda": 0})"),
      "axpy.json: geam: lda is 0, less than a row of a is long: 1 at the size 1 of this file");
}

TEST(SpaceFile, TheEntryHoldsEveryTemplateParameterAndNoOther) {
  EXPECT_THAT(error("plain<${BLOCK},${SPAN}>", "plain<64>"),
              StartsWith("axpy.json: kernels.plain.entry: the template parameter BLOCK is not "
                         "in the entry: write ${BLOCK}"));
  EXPECT_EQ(
      error("${SPAN}", "${SPAM}"),
      "axpy.json: kernels.plain.entry: ${SPAM}: unknown name \"SPAM\" (did you mean 'SPAN'?)");
  EXPECT_THAT(error("${SPAN}", "${WAVES}"),
              HasSubstr("${WAVES} is in the entry, but the parameter is of kind \"launch\""));
  EXPECT_THAT(error("${SPAN}", "${UNROLL}"), HasSubstr("is of kind \"define\""));
  EXPECT_THAT(error("${SPAN}", "$SPAN"), HasSubstr("a $ must begin ${NAME}"));
  EXPECT_THAT(error("${SPAN}>", "${SPAN"), HasSubstr("a $ must begin ${NAME}"));
  EXPECT_THAT(error("${SPAN}", "${}"), HasSubstr("a $ must begin ${NAME}"));
}

TEST(SpaceFile, OptionsThatReachIntoTheMachineAreRefused) {
  for (const std::string option : {"-I/foo", "-DTUNER_WITHOUT_RACES", "-include=/etc/passwd", "-D",
                                   "-D1=2", "-arch=sm_80", "-std=c++14", "-DA -I/foo"}) {
    EXPECT_THAT(error("-DCHECKED", option),
                StartsWith("axpy.json: kernels.plain.options[0]: the compiler option \"" + option +
                           "\" is not allowed"));
  }
  EXPECT_THAT(error("-DCHECKED", "-I/foo"), HasSubstr("allowed are -DNAME[=value], -std=c++17"));
  EXPECT_NO_THROW(sample::parse(altered(kDocument, "-DCHECKED", "-DLIMIT=3")));
  EXPECT_NO_THROW(sample::parse(altered(kDocument, "-DCHECKED", "--use_fast_math")));
}

TEST(SpaceFile, OtherMistakesInAKernelAreNamed) {
  EXPECT_EQ(error("\"cuda\"", "\"hip\""),
            "axpy.json: kernels.plain.backends[0]: unknown backend \"hip\" (known: cuda, cpu)");
  EXPECT_EQ(error("\"plain\": {", "\"other\": {"),
            "axpy.json: kernels.other.source: the source of 'other' is not given");
  EXPECT_EQ(error("[\"SPAN + 1\"]", "[1, 2]"),
            "axpy.json: kernels.plain.check_sizes[0]: must have exactly 1 number (N), has 2");
  const auto scratch = [](const std::string& buffers) {
    return error("\"launch\": {", "\"scratch\": [" + buffers + "], \"launch\": {");
  };
  EXPECT_EQ(
      scratch(R"({"name": "s", "type": "float", "count": 1})"),
      "axpy.json: kernels.plain.scratch[0].type: \"float\" must end in *: it is the type of a "
      "buffer");
  EXPECT_EQ(scratch(R"({"name": "x", "type": "float*", "count": 1})"),
            "axpy.json: kernels.plain.scratch[0]: the argument 'x' appears twice");
  EXPECT_THAT(scratch(R"({"name": "s", "type": "float*", "count": "BLOK"})"),
              StartsWith("axpy.json: kernels.plain.scratch[0].count: unknown name 'BLOK' (did you "
                         "mean 'BLOCK'?)"));
  const auto tensors = [](const std::string& maps) {
    return error("\"launch\": {", "\"tensor_maps\": [" + maps + "], \"launch\": {");
  };
  EXPECT_EQ(
      tensors(R"({"name": "t", "buffer": "N", "extents": ["N"], "strides": [], "box": [32]})"),
      "axpy.json: kernels.plain.tensor_maps[0].buffer: neither the family nor the kernel has a "
      "buffer \"N\"");
  EXPECT_EQ(
      tensors(
          R"({"name": "t", "buffer": "x", "extents": ["N", 1], "strides": [], "box": [32, 1]})"),
      "axpy.json: kernels.plain.tensor_maps[0].strides: must have exactly 1 element, has 0");
  EXPECT_EQ(
      tensors(R"({"name": "y", "buffer": "x", "extents": ["N"], "strides": [], "box": [32]})"),
      "axpy.json: kernels.plain.tensor_maps[0]: the argument 'y' appears twice");
  const std::string head(kDocument.substr(0, kDocument.find("\"kernels\"")));
  EXPECT_EQ(error(head + R"("kernels": {}})"),
            "axpy.json: kernels: is empty; a family has at least one kernel");
}

}  // namespace
}  // namespace tuner::family
