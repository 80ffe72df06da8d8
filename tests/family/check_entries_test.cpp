// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/check_entries.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace tuner::family {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What differs from one test's kernel to the other's.
struct Sample {
  std::string source;
  std::string entry = "scale";
  std::string x = "float*";
  std::string more = {};       ///< keys of the kernel
  std::string more_of_x = {};  ///< and of the argument x
  std::string header = {};
  std::string reference = {};  ///< keys of the reference
  std::string launch = {};     ///< keys of its launch
};

Family family(const Sample& sample) {
  constexpr std::string_view kText = R"json({{
    "format": "space/1", "family": "scale", "problem": {{"dims": ["N"], "flops": "N", "bytes": "N",
      "sizes": {{"default": [[8]]}}}},
    "arguments": [{{"name": "n", "type": "int", "value": "N"}},
                  {{"name": "x", "type": "{}", "count": "N"{}}},
                  {{"name": "y", "type": "float*", "count": "N", "role": "output"}}],
    "check": {{"reference": {{"kernel": "scale"{}}}, "sizes": [[1]]}},
    "kernels": {{"scale": {{"source": "s.cu", "entry": "{}", {}
                            "launch": {{"grid": [1], "block": [1]{}}}}}}}
  }})json";
  source::KernelSource source{.name = "s.cu", .text = sample.source, .headers = {}};
  if (!sample.header.empty()) source.headers.push_back({.name = "h.cuh", .text = sample.header});
  return parse_family(fmt::format(kText, sample.x, sample.more_of_x, sample.reference, sample.entry,
                                  sample.more, sample.launch),
                      "scale.json", {{"scale", source}});
}

/// The message of the error; empty when there is none.
std::string refusal(const Sample& sample) {
  const Family checked = family(sample);
  try {
    check_entries(checked, checked.kernels.front());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

std::string kernel(std::string_view parameters, std::string_view before = "") {
  return fmt::format("{}\n__global__ void scale({}) {{}}\n", before, parameters);
}

TEST(CheckEntries, ATypeThatDiffersIsRefused) {
  EXPECT_THAT(refusal({.source = kernel("int n, const double* x, float* y")}),
              AllOf(HasSubstr("scale.json: arguments: 'x' is float*, but parameter 2 of scale is "
                              "'const double* x' (s.cu:2)"),
                    HasSubstr("write \"type\": \"double*\""), HasSubstr("in the order")));
  EXPECT_THAT(refusal({.source = kernel("int n, const float* x, float* y"), .x = "int*"}),
              HasSubstr("'x' is int*"));
  EXPECT_THAT(refusal({.source = kernel("float n, const float* x, float* y")}),
              HasSubstr("'n' is int, but parameter 1"));
  EXPECT_THAT(refusal({.source = kernel("const float* x, int n, float* y")}),
              HasSubstr("arguments: parameter 'x' of scale (s.cu:2) gets the argument 'n', and "
                        "another one 'x': arguments are passed in the order of the parameters"));
  EXPECT_THAT(refusal({.source = "", .header = kernel("int n, int* x, float* y")}),
              HasSubstr("(h.cuh:2)"));
  EXPECT_THAT(refusal({.source = kernel("int n, int* x, float* y", "template <int B>"),
                       .entry = "detail::scale<32>"}),
              HasSubstr("'int* x'"));
}

TEST(CheckEntries, AReferenceGetsItsOwnWiderType) {
  const std::string floats = kernel("int n, const float* x, float* y");
  const auto with_type = [&](const std::string& source, const std::string& type) {
    return refusal({.source = source, .reference = R"(, "type": ")" + type + "\""});
  };
  EXPECT_EQ(with_type(kernel("int n, const double* x, double* y"), "double"), "");
  EXPECT_THAT(
      with_type(floats, "double"),
      AllOf(HasSubstr("scale.json: check.reference.type: 'x' is double*, but parameter 2 of "
                      "scale is 'const float* x'"),
            HasSubstr("write \"type\": \"float\", or")));
  EXPECT_EQ(with_type(floats, "float"), "") << "is no wider";
}

TEST(CheckEntries, SoAreTypesOfTheKernelsOwn) {
  const std::string own = R"("arguments": [{"name": "tile", "type": "int", "value": 4}, "y"],
                             "scratch": [{"name": "parts", "type": "float*", "count": 1}],)";
  EXPECT_EQ(refusal({.source = kernel("int tile, float* y, float* parts"), .more = own}), "");
  EXPECT_THAT(refusal({.source = kernel("float tile, float* y, float* parts"), .more = own}),
              HasSubstr("scale.json: kernels.scale.arguments: 'tile' is int"));
  EXPECT_THAT(refusal({.source = kernel("int tile, float* y, int* parts"), .more = own}),
              HasSubstr("scale.json: kernels.scale.scratch: 'parts' is float*"));
}

TEST(CheckEntries, AnOutputThatCannotBeWrittenIsRefused) {
  EXPECT_THAT(refusal({.source = kernel("int n, const float* y, const float* x")}),
              HasSubstr("scale.json: arguments: 'y' is an output, but parameter 3 of scale, 'const "
                        "float* x' (s.cu:2), cannot be written"));
}

TEST(CheckEntries, AnOutputThatALaterStepReadsIsNot) {
  constexpr std::string_view kText = R"json({
    "format": "space/1", "family": "scale", "problem": {"dims": ["N"], "flops": "N", "bytes": "N",
      "sizes": {"default": [[8]]}},
    "arguments": [{"name": "y", "type": "float*", "count": "N", "role": "output"},
                  {"name": "z", "type": "float*", "count": "N", "role": "output"}],
    "check": {"reference": {"kernel": "scale"}, "sizes": [[1]]},
    "kernels": {"scale": {"source": "s.cu", "steps": [
      {"entry": "first", "arguments": ["y"], "launch": {"grid": [1], "block": [1]}},
      {"entry": "second", "arguments": ["y", "z"], "launch": {"grid": [1], "block": [1]}}]}}
  })json";
  const Family steps =
      parse_family(kText, "scale.json",
                   {{"scale",
                     {.name = "s.cu",
                      .text = "__global__ void first(float* y) {}\n"
                              "__global__ void second(const float* y, float* z) {}\n",
                      .headers = {}}}});
  EXPECT_NO_THROW(check_entries(steps, steps.kernels.front()));
}

TEST(CheckEntries, ANameOfAnotherArgumentIsACaution) {
  EXPECT_THAT(entry_cautions(family({.source = kernel("int n, float* y, float* x")})),
              ElementsAre(HasSubstr("parameter 'y' of scale (s.cu:2) gets the argument 'x', and "
                                    "another one 'y'")));
  EXPECT_THAT(entry_cautions(family({.source = kernel("int count, float* x, float* y")})),
              IsEmpty());
  EXPECT_THAT(entry_cautions(family({.source = kernel("int n, float* in, float* x")})), IsEmpty());
}

TEST(CheckEntries, SoIsAnotherNumberOfArguments) {
  EXPECT_THAT(refusal({.source = kernel("float a,\n int n, const float* x, float* y")}),
              AllOf(HasSubstr("scale.json: kernels.scale.entry: scale has 4 parameters (s.cu:2: "
                              "float a, int n, const float* x, float* y), but gets 3 arguments: "
                              "n, x, y;"),
                    HasSubstr("correct \"arguments\"")));
  EXPECT_THAT(refusal({.source = kernel("int n, float* y")}), HasSubstr("has 2 parameters"));
  EXPECT_THAT(refusal({.source = kernel("")}), HasSubstr("has 0 parameters"));
  EXPECT_THAT(refusal({.source = kernel("void")}), HasSubstr("has 0 parameters"));
  EXPECT_THAT(refusal({.source = kernel("int n, const float* x, float* y"),
                       .more = R"("arguments": ["x", "y"],)"}),
              HasSubstr("gets 2 arguments: x, y"));
  EXPECT_THAT(refusal({.source = kernel("int n, float* y, T... more", "template <class... T>"),
                       .entry = "scale<int, int>"}),
              "");
}

TEST(CheckEntries, WhatIsNotCertainPasses) {
  for (const std::string& source :
       {kernel("int n, const float* __restrict__ x, float* y"),
        kernel("int n, T* x, float* y", "template <class T>"),
        kernel("int n, const float4* x, float* y"), kernel("int n, const void* x, float* y"),
        kernel("int n, real* x, float* y", "using real = float;"),
        kernel("int n, half* x, float* y", "typedef float half;"),
        kernel("int n, double* x, float* y", "#define double float"),
        kernel("int n, float (*x)[4], float* y"),
        kernel("int n,\n#ifdef DOUBLE\n double* x,\n#else\n float* x,\n#endif\n float* y"),
        kernel("ARGUMENTS", "#define ARGUMENTS int n, float* x, float* y"),
        kernel("int n, const float* x, float* y") + kernel("int n, const double* x, double* y"),
        std::string("#define KERNEL(name, T) __global__ void name(int n, T* x, float* y) {}\n"
                    "KERNEL(scale, float)")}) {
    EXPECT_EQ(refusal({.source = source}), "") << source;
  }
  EXPECT_EQ(refusal({.source = kernel("int n, double* x, float* y"),
                     .more = R"("options": ["-Ddouble=float"],)"}),
            "");
}

TEST(CheckEntries, TypesThatAreSeldomMeantAreCautions) {
  const Family doubtful = family({.source = kernel("int n, const unsigned char* x, float* y")});
  check_entries(doubtful, doubtful.kernels.front());
  EXPECT_THAT(entry_cautions(doubtful),
              ElementsAre(AllOf(HasSubstr("parameter 2 of scale is 'const unsigned char* x'"),
                                HasSubstr("reads the bits of float*"))));
  EXPECT_THAT(entry_cautions(family({.source = kernel("int n, const float* x, float* y")})),
              IsEmpty());
  const std::string vectors = kernel("int n, const float4* x, float* y");
  EXPECT_THAT(
      entry_cautions(family({.source = vectors})),
      ElementsAre(
          "parameter 'x' of scale (s.cu:2) is float4*, whose addresses are multiples of 16, "
          "but gets the argument 'x', a multiple of 4: give it \"align\": 16"));
  EXPECT_THAT(entry_cautions(family({.source = vectors, .more_of_x = R"(, "align": 16)"})),
              IsEmpty());
  EXPECT_THAT(entry_cautions(family({.source = vectors, .more_of_x = R"(, "offset": 6)"})),
              ElementsAre(HasSubstr("gets the argument 'x', a multiple of 8: give it")));
  EXPECT_THAT(entry_cautions(family({.source = vectors, .more_of_x = R"(, "offset": 4)"})),
              IsEmpty());
}

TEST(CheckEntries, AFunctionThatIsNotThereIsRefused) {
  const std::string source = kernel("int n, const float* x, float* y");
  EXPECT_THAT(refusal({.source = source, .entry = "scal"}),
              AllOf(HasSubstr("scale.json: kernels.scale.entry: s.cu has no __global__ function "
                              "'scal'"),
                    HasSubstr("did you mean 'scale'?")));
  EXPECT_THAT(refusal({.source = source, .entry = "detail::scalee<32, (1 > 0)>"}), "");
  EXPECT_THAT(refusal({.source = source, .entry = "detail::scalee<32>"}), HasSubstr("'scalee'"));
  EXPECT_THAT(refusal({.source = "// scal\n" + source, .entry = "scal"}), HasSubstr("'scal'"));
}

TEST(CheckEntries, AnEntryThatLeavesOutANamespaceIsRefused) {
  const std::string inside = kernel("int n, const float* x, float* y");
  const std::string source = "namespace detail { namespace { struct S {}; }\n" + inside + "}\n";
  EXPECT_THAT(refusal({.source = source}),
              HasSubstr("scale.json: kernels.scale.entry: scale is in a namespace: write "
                        "\"detail::scale\""));
  EXPECT_EQ(refusal({.source = source, .entry = "detail::scale"}), "");
  for (const std::string& found :
       {source + "using namespace detail;", source + "using detail::scale;", "inline " + source,
        "namespace detail { extern \"C\" {" + inside + "} }", source + inside,
        "namespace {" + inside + "}", "namespace detail { struct S {}; }\n" + inside,
        "namespace detail {\n#if A\nvoid f() {\n#else\nvoid f(int) {\n#endif\n} }\n" + inside}) {
    EXPECT_EQ(refusal({.source = found}), "") << found;
  }
}

TEST(CheckEntries, AFunctionThatMayBeThereIsNot) {
  const std::string body = "(int n, const float* x, float* y) {}\n";
  for (const std::string& source :
       {"#define K(a) __global__ void a##_four" + body + "K(scale)",
        "__global__ void sca\\\nle" + body, "#define NAME scale\n__global__ void NAME" + body,
        "#if 1\n__global__ void scale" + body + "#endif",
        "%:define K(a) __global__ void a%:%:le" + body + "K(sca)"}) {
    EXPECT_EQ(refusal({.source = source, .entry = "scale"}), "") << source;
  }
  EXPECT_EQ(refusal({.source = "#define K(a) __global__ void a##_four" + body + "K(scale)",
                     .entry = "scale_four"}),
            "");
  const std::string named = "__global__ void NAME" + body;
  EXPECT_EQ(refusal({.source = named, .more = R"("options": ["-DNAME=scale"],)"}), "");
  EXPECT_EQ(refusal({.source = named,
                     .entry = "scale",
                     .more = R"("parameters": {"NAME": {"values": ["scale", "other"],
                                "default": "scale", "kind": "define"}},)"}),
            "");
  EXPECT_THAT(refusal({.source = named}), HasSubstr("no __global__ function 'scale'"));
  EXPECT_EQ(refusal({.source = "__global__ void scale4" + body,
                     .entry = "scale${WIDTH}",
                     .more = R"("derived": {"WIDTH": "4"},)"}),
            "");
}

/// All that are published, and those whose mistakes only verification finds.
TEST(CheckEntries, AProgrammaticLaunchThatWaitsForNothingIsRefused) {
  constexpr std::string_view kParameters = "int n, const float* x, float* y";
  Sample sample{.source = kernel(kParameters), .launch = R"(, "programmatic": 1)"};
  EXPECT_THAT(refusal(sample),
              AllOf(HasSubstr("scale.json: kernels.scale.launch.programmatic: "),
                    HasSubstr("s.cu does not wait"), HasSubstr("cudaGridDependencySynchronize()")));
  sample.header = "asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");";
  EXPECT_EQ(refusal(sample), "");
  sample.header.clear();
  sample.source = kernel(kParameters, "// cudaGridDependencySynchronize\n");
  EXPECT_EQ(refusal(sample), "");
}

TEST(CheckEntries, OfPublishedKernelsPass) {
  int checked = 0;
  for (const char* folder : {"spaces", "tests/corpus", "tests/mutants", "examples"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             std::filesystem::path(TUNER_SOURCE_DIR) / folder)) {
      const std::filesystem::path& path = entry.path();
      if (path.extension() != ".json") continue;
      if (read_file(path, 1U << 20).find("\"format\": \"space/1\"") == std::string::npos) continue;
      const Family family = load_family(path);
      for (const Kernel& each : family.kernels) EXPECT_NO_THROW(check_entries(family, each));
      EXPECT_THAT(entry_cautions(family), IsEmpty()) << path;
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace tuner::family
