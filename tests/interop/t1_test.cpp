// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/t1.hpp"

#include "tests/interop/data_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/space/space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <string>

namespace tuner::interop {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

space::DeviceAttributes h200() {
  return space::device_profile("h200").value().attributes;
}

ImportedSpace import(const std::string& text) {
  return import_t1(text, "FILE", "../t1", h200());
}

struct Imported {
  std::string kernel;
  Json document;
  std::shared_ptr<const space::SpaceDefinition> definition;
  std::vector<std::int64_t> size;
};

Imported parsed(const std::string& space_text) {
  const Json document = parse_json(space_text, "space");
  const std::string kernel = document["kernels"].items().begin().key();
  auto definition = std::make_shared<const space::SpaceDefinition>(space::parse_space_definition(
      document["kernels"][kernel], space::parse_dimensions(document["problem"], "space"), "space"));
  return {kernel, document, std::move(definition),
          document["problem"]["sizes"]["default"][0].get<std::vector<std::int64_t>>()};
}

space::Space bound(const Imported& imported) {
  return {imported.definition, h200(), imported.size};
}

std::string t1_refusal(const std::string& text) {
  try {
    static_cast<void>(import(text));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

/// A T1 file of one parameter, A, with these members beside.
std::string t1(const std::string& values, const std::string& conditions = "",
               const std::string& specification = "") {
  return R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "A", "Type": "int", "Values": ")" +
         values + R"("}], "Conditions": [)" + conditions +
         R"(]}, "KernelSpecification": {"Language": "CUDA", "KernelName": "f", "KernelFile": "f.cu",)"
         R"( "GlobalSizeType": "CUDA", "GlobalSize": {"X": "64 // A"}, "LocalSize": {"X": "A"})" +
         specification + "}}";
}

struct Published {
  const char* file;
  std::uint64_t cartesian;
  std::uint64_t valid;
};

void PrintTo(const Published& published, std::ostream* out) {
  *out << published.file;
}

class PublishedT1 : public testing::TestWithParam<Published> {
 protected:
  std::string text() const {
    return read_file(kData / fmt::format("{}.json", GetParam().file), 1 << 20);
  }
};

TEST_P(PublishedT1, Has_the_published_number_of_configurations) {
  const space::Space space = bound(parsed(import(text()).text));
  EXPECT_EQ(space.size(), GetParam().valid);
  EXPECT_EQ(space.waterfall().cartesian, GetParam().cartesian);
  EXPECT_FALSE(space.violation(space.default_config()));
}

TEST_P(PublishedT1, Comes_back_the_same_out_of_an_export) {
  const Imported first = parsed(import(text()).text);
  const std::string exported = export_t1(first.document.dump(), first.kernel, *first.definition,
                                         h200(), first.size, "there");
  const Imported second = parsed(import(exported).text);
  EXPECT_EQ(second.document["kernels"][second.kernel]["parameters"],
            first.document["kernels"][first.kernel]["parameters"]);
  EXPECT_EQ(second.document["kernels"][second.kernel]["constraints"],
            first.document["kernels"][first.kernel]["constraints"]);
  EXPECT_EQ(second.size, first.size);
  EXPECT_EQ(bound(second).size(), GetParam().valid);
}

INSTANTIATE_TEST_SUITE_P(Files, PublishedT1,
                         testing::Values(Published{"t1_convolution", 10240, 4362},
                                         Published{"t1_dedispersion", 22272, 11130},
                                         Published{"t1_gemm", 663552, 116928},
                                         Published{"t1_hotspot", 4440000, 82984}),
                         [](const auto& suite) { return std::string(suite.param.file); });

TEST(T1_import, What_T1_says_of_the_kernel_is_taken_over) {
  const Imported space = parsed(import(read_file(kData / "t1_convolution.json", 1 << 20)).text);
  const Json& kernel = space.document["kernels"]["convolution_kernel"];
  EXPECT_EQ(kernel["source"], "../t1/convolution_milo.cu");
  EXPECT_EQ(kernel["launch"]["block"], Json({"block_size_x", "block_size_y", "1"}));
  EXPECT_EQ(kernel["launch"]["grid"][0],
            "ceil_div(problem_size_x, (block_size_x) * (tile_size_x))");
  EXPECT_EQ(space.document["problem"]["sizes"]["default"], Json::array({{4096, 4096}}));
  const Json& arguments = space.document["arguments"];
  EXPECT_EQ(arguments[0], Json({{"name", "output_image"},
                                {"type", "float*"},
                                {"count", "problem_size_x*problem_size_y"},
                                {"role", "output"},
                                {"initial", "zero"}}));
  EXPECT_EQ(arguments[1]["count"], "(problem_size_x+15-1) * (problem_size_y+15-1)");
}

TEST(T1_import, What_cannot_be_said_is_named) {
  const auto notes = [](const std::string& specification) {
    return import(t1("[32, 64]", "", ", " + specification)).notes;
  };
  EXPECT_THAT(notes(R"("ProblemSize": [64])"), Contains(HasSubstr("problem.flops")));
  EXPECT_THAT(notes(R"("ProblemSize": [64])"), Not(Contains(HasSubstr("ProblemSize"))));
  EXPECT_THAT(notes(R"("Misc": 0)"), Contains(HasSubstr("no ProblemSize")));
  EXPECT_THAT(notes(R"("CompilerOptions": ["-std=c++11", "-DX=1"])"),
              Contains(HasSubstr("the compiler option -std=c++11")));
  const std::string argument = R"("Arguments": [{"Name": "x", "Type": ")";
  EXPECT_THAT(notes(argument + R"(float8", "MemoryType": "Vector", "Size": 5}])"),
              Contains(HasSubstr("argument x: the type 'float8' is not supported")));
  EXPECT_THAT(notes(argument + R"(half", "MemoryType": "Scalar", "FillValue": 1}])"),
              Contains(HasSubstr("argument x: a number of type 'half' cannot be passed by value")));
  EXPECT_THAT(notes(argument + R"(int32", "MemoryType": "Scalar", "FillValue": 0.1}])"),
              Contains(HasSubstr("argument x: the value 0.1 is no int; 1 is used")));
  EXPECT_THAT(notes(R"("ProblemSize": [64, 7], )" + argument +
                    R"(int32", "MemoryType": "Scalar", "FillValue": 64}])"),
              Contains(HasSubstr("argument x: 64 is assumed to be problem_size_x")));
  EXPECT_THAT(notes(argument + R"(float", "MemoryType": "Vector", "Size": "A*3"}])"),
              Contains(HasSubstr("argument x: its Size \"A*3\" cannot be expressed")));
  const auto hotspot = import(read_file(kData / "t1_gemm.json", 1 << 20)).notes;
  EXPECT_THAT(hotspot, Contains(HasSubstr("LocalSize.X: \"block_size_x\" cannot be expressed")));
  EXPECT_THAT(hotspot, Contains(HasSubstr("language is OpenCL")));
}

TEST(T1_import, Arguments_keep_their_values_and_roles) {
  const std::string arguments =
      R"("ProblemSize": [64], "Arguments": [)"
      R"({"Name": "beta", "Type": "float", "MemoryType": "Scalar", "FillValue": 0.5},)"
      R"({"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 9},)"
      R"({"Name": "ones", "Type": "int32", "MemoryType": "Vector", "FillType": "Constant",)"
      R"( "FillValue": 1, "Size": 9},)"
      R"({"Name": "sum", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",)"
      R"( "FillType": "Constant", "FillValue": 0.0, "Size": 9},)"
      R"({"Name": "weights", "Type": "float", "MemoryType": "Vector", "MemType": "Constant", "Size": 9}])";
  const Imported once = parsed(import(t1("[32, 64]", "", ", " + arguments)).text);
  EXPECT_EQ(once.document["arguments"],
            Json::parse(R"([{"name": "beta", "type": "float", "value": 0.5},
                            {"name": "c", "type": "float*", "count": "9", "role": "inout"},
                            {"name": "ones", "type": "int*", "count": "9", "fill": {"constant": 1}},
                            {"name": "sum", "type": "float*", "count": "9", "role": "output",
                             "initial": "zero"},
                            {"name": "weights", "type": "float[]", "count": "9",
                             "symbol": "weights"}])"));
  const std::string exported =
      export_t1(once.document.dump(), once.kernel, *once.definition, h200(), once.size, "there");
  EXPECT_EQ(parsed(import(exported).text).document["arguments"], once.document["arguments"]);
}

TEST(T1_import, Bytes_are_counted_in_the_type_of_the_elements) {
  const auto bytes = [](const std::string& type) {
    const std::string argument = R"("Arguments": [{"Name": "x", "Type": ")" + type +
                                 R"(", "MemoryType": "Vector", "Size": 5}])";
    return parsed(import(t1("[32, 64]", "", ", " + argument)).text)
        .document["problem"]["bytes"]
        .get<std::string>();
  };
  EXPECT_EQ(bytes("half"), "2*(5)");
  EXPECT_EQ(bytes("int8"), "1*(5)");
  EXPECT_EQ(bytes("uint64"), "8*(5)");
  EXPECT_EQ(bytes("float64"), "8*(5)");
  EXPECT_EQ(bytes("uint"), "4*(5)");
}

TEST(T1_import, A_default_that_breaks_a_condition_gives_way) {
  const ImportedSpace imported = import(read_file(kData / "t1_dedispersion.json", 1 << 20));
  EXPECT_THAT(imported.notes, Contains(HasSubstr("the default is changed to tile_")));
  const Imported space = parsed(imported.text);
  EXPECT_EQ(
      space.definition->parameters[1].values[space.definition->parameters[1].default_index].text,
      "32");
}

TEST(T1_import, Threads_are_counted_as_blocks_where_the_file_counts_threads) {
  const auto grid = [](const std::string& type) {
    const std::string text = t1("[32]", "", R"(, "ProblemSize": [64], "Grid": 1)");
    std::string changed = text;
    changed.replace(changed.find("\"GlobalSizeType\": \"CUDA\""), 24,
                    "\"GlobalSizeType\": \"" + type + "\"");
    return parsed(import(changed).text).document["kernels"]["f"]["launch"]["grid"][0];
  };
  EXPECT_EQ(grid("CUDA"), "64 // A");
  EXPECT_EQ(grid("OpenCL"), "ceil_div(64 // A, A)");
}

TEST(T1_import, What_is_no_T1_file_is_refused_with_the_place) {
  EXPECT_THAT(t1_refusal("{}"), HasSubstr("FILE: is not a T1 file"));
  EXPECT_THAT(t1_refusal(t1("[0.5]")),
              HasSubstr("TuningParameters[0] (A).Values: 0.5 is not a whole"));
  EXPECT_THAT(t1_refusal(t1("[1, oops]")), HasSubstr("unknown name 'oops'"));
  EXPECT_THAT(t1_refusal(t1("[]")), HasSubstr("has no value"));
  EXPECT_THAT(
      t1_refusal(t1("[1, 2]", R"({"Expression": "B > 1"})")),
      HasSubstr("FILE: Conditions[0]: cannot be expressed in a space file: unknown name 'B'"));
  EXPECT_THAT(t1_refusal(t1("[1, 2]", R"({"Expression": "A**2 > 1"})")),
              HasSubstr("Conditions[0]"));
  EXPECT_THAT(t1_refusal(t1("[1, 2]", R"({"Expression": "A > 2"})")),
              HasSubstr("FILE: the conditions leave no configuration"));
}

/// A space file with all that T1 has no word for.
constexpr const char* kOurs = R"json({"format": "space/1", "family": "scale",
  "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N", "sizes": {"default": [[1000]]}},
  "arguments": [{"name": "n", "type": "int", "value": "N"},
                {"name": "x", "type": "float*", "count": "2*N"},
                {"name": "y", "type": "float*", "count": "N", "role": "output"}],
  "check": {"reference": {"kernel": "scale"}},
  "kernels": {"scale": {"source": "scale.cu", "entry": "scale<${BLOCK},${SPAN}>",
    "parameters": {"BLOCK": {"values": [1, 2, 3, 4, 32], "default": 32},
                   "MODE": {"values": ["plain", "vector"], "default": "plain"},
                   "FAST": {"values": [false, true], "default": true, "when": "MODE == 'vector'"}},
    "derived": {"SPAN": "BLOCK * 2"},
    "constraints": [{"expr": "SPAN + 1 <= dev.warp_size * 3 && N % BLOCK == 0", "why": "a"},
                    {"expr": "is_pow2(BLOCK) ? true : !FAST", "why": "b"},
                    {"expr": "ceil_div(BLOCK, 3) * align_up(BLOCK, 2) > 0", "why": "c"},
                    {"expr": "MODE in ['plain', 'vector']", "why": "d"}],
    "launch": {"grid": ["ceil_div(N, SPAN)"], "block": ["BLOCK"]}}}})json";

TEST(T1_export, Everything_becomes_Python_over_the_parameters) {
  const Imported ours = parsed(kOurs);
  const Json t1 =
      Json::parse(export_t1(kOurs, "scale", *ours.definition, h200(), ours.size, "../spaces"));
  const Json& conditions = t1["ConfigurationSpace"]["Conditions"];
  EXPECT_EQ(conditions[0]["Expression"], "(MODE == 'vector') or FAST == True");
  EXPECT_EQ(conditions[1]["Expression"],
            "((((BLOCK * 2) + 1) <= (32 * 3)) and ((1000 % BLOCK) == 0))");
  EXPECT_EQ(conditions[2]["Expression"],
            "(1 if (BLOCK > 0 and BLOCK & (BLOCK - 1) == 0) else (not FAST))");
  EXPECT_EQ(conditions[3]["Expression"], "(((-(-BLOCK // 3)) * (-(-BLOCK // 2) * 2)) > 0)");
  EXPECT_EQ(conditions[4]["Expression"], "MODE in ['plain', 'vector']");
  EXPECT_EQ(conditions[1]["Parameters"], Json::array({"BLOCK"}));
  const Json& kernel = t1["KernelSpecification"];
  EXPECT_EQ(kernel["KernelName"], "scale<BLOCK,(BLOCK * 2)>");
  EXPECT_EQ(kernel["KernelFile"], "../spaces/scale.cu");
  EXPECT_EQ(kernel["GlobalSize"]["X"], "(-(-1000 // (BLOCK * 2)))");
  EXPECT_EQ(kernel["Arguments"][0]["FillValue"], 1000);
  EXPECT_EQ(kernel["Arguments"][1]["Size"], 2000);
  EXPECT_EQ(kernel["Arguments"][2]["Output"], 1);
}

TEST(T1_export, Elements_of_16_bits_come_back) {
  std::string text = kOurs;
  text.replace(text.find("float*"), 6, "unsigned short*");
  const std::string_view condition = "is_pow2(BLOCK) ? true : !FAST";  // which T1 says otherwise
  text.replace(text.find(condition), condition.size(), "BLOCK > 0");
  const Imported ours = parsed(text);
  const std::string t1 = export_t1(text, "scale", *ours.definition, h200(), ours.size, ".");
  EXPECT_EQ(Json::parse(t1)["KernelSpecification"]["Arguments"][1]["Type"], "uint16");
  EXPECT_EQ(parsed(import(t1).text).document["arguments"][1]["type"], "unsigned short*");
}

TEST(T1_export, Types_are_those_of_the_size) {
  std::string text = kOurs;
  const auto replace = [&text](std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("float*", "${A}*");
  replace("scale<${BLOCK}", "scale<${A},${BLOCK}");
  replace("is_pow2(BLOCK) ? true : !FAST", "BLOCK*bytes(A) <= 64");
  replace(R"("dims": ["N"])", R"("dims": ["N", {"name": "TYPE", "default": "u16", "types": {
    "f32": {"A": "f32"}, "u16": {"A": "u16"}}}])");
  Imported ours = parsed(text);
  ours.size = {1000, 1};  // the second type
  const std::string t1 = export_t1(text, "scale", *ours.definition, h200(), ours.size, ".");
  const Json specification = Json::parse(t1)["KernelSpecification"];
  EXPECT_EQ(specification["KernelName"], "scale<unsigned short,BLOCK,(BLOCK * 2)>");
  EXPECT_EQ(specification["Arguments"][1]["Type"], "uint16");
  EXPECT_NO_THROW(static_cast<void>(parsed(import(t1).text)));
}

TEST(T1_export, A_function_that_Python_lacks_is_refused) {
  const std::string text =
      std::string(kOurs).replace(std::string(kOurs).find("is_pow2(BLOCK)"), 14, "log2(BLOCK) > 0");
  const Imported ours = parsed(text);
  EXPECT_THROW(
      static_cast<void>(export_t1(text, "scale", *ours.definition, h200(), ours.size, ".")), Error);
}

TEST(T1_export, A_type_that_T1_does_not_have_is_refused) {
  std::string text = kOurs;
  text.replace(text.find("float*"), 6, "bf16*");
  const Imported ours = parsed(text);
  try {
    static_cast<void>(export_t1(text, "scale", *ours.definition, h200(), ours.size, "."));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("T1 has no type for elements of 'bf16'"));
  }
}

TEST(T1_export, An_array_by_value_is_refused) {
  std::string text = kOurs;
  text.replace(text.find("float*"), 6, "float[]");
  const Imported ours = parsed(text);
  try {
    static_cast<void>(export_t1(text, "scale", *ours.definition, h200(), ours.size, "."));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("T1 has no arrays by value"));
  }
}

TEST(T1_export, What_T1_has_nothing_for_is_refused) {
  const auto error_of = [](const std::function<void(Json&)>& change) -> std::string {
    Json document = Json::parse(kOurs);
    change(document["kernels"]["scale"]);
    const Imported ours = parsed(document.dump());
    try {
      static_cast<void>(
          export_t1(document.dump(), "scale", *ours.definition, h200(), ours.size, "."));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(error_of([](Json&) {}), "");
  const auto as_steps = [](Json& kernel) {
    kernel["steps"] = Json::array({{{"entry", kernel["entry"]}, {"launch", kernel["launch"]}}});
    kernel.erase("entry");
    kernel.erase("launch");
  };
  EXPECT_EQ(error_of(as_steps), "T1 has nothing for the kernel's steps");
  const auto with_scratch = [](Json& kernel) {
    kernel["scratch"] = Json::array({{{"name", "sums"}, {"type", "float*"}, {"count", 1}}});
  };
  EXPECT_EQ(error_of(with_scratch), "T1 has nothing for the kernel's scratch");
  EXPECT_EQ(error_of([](Json& kernel) { kernel["launch"]["programmatic"] = 1; }),
            "T1 has nothing for programmatic launches: export a copy of the space file without "
            "\"programmatic\"");
}

}  // namespace
}  // namespace tuner::interop
