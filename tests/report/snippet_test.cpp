// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/snippet.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/stored_family.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kSpace = R"json({
  "format": "space/1", "family": "scale",
  "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
  "arguments": [{"name": "N", "type": "int", "value": "N"},
                {"name": "factor", "type": "float", "value": 2},
                {"name": "x", "type": "float*", "count": "N"},
                {"name": "y", "type": "float*", "count": "N", "role": "output"}],
  "check": {"reference": {"kernel": "plain"}},
  "kernels": {
    "scale": {
      "source": "scale.cu", "entry": "scale<${BLOCK}>", "options": ["--use_fast_math"],
      "parameters": {"BLOCK": {"values": [32, 64], "default": 32},
                     "BYTES": {"values": [1024, 65536], "default": 1024, "kind": "launch"},
                     "WIDTH": {"values": [1, 4], "default": 1, "kind": "define"}},
      "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"], "dynamic_shared_bytes": "BYTES"},
      "scratch": [{"name": "sums", "type": "double*", "count": "N//BLOCK"}]
    },
    "plain": {"source": "plain.cu", "entry": "plain", "launch": {"grid": ["N"], "block": [1]}}
  }
})json";

store::KernelRecord record(const char* space = kSpace, const char* headers = "[]",
                           const char* source = "") {
  store::KernelRecord record{.family = "scale",
                             .kernel = "scale",
                             .hash = "",
                             .space_text = space,
                             .source_name = "scale.cu",
                             .source_text = source,
                             .headers_json = headers};
  const family::Family family = select::stored_family(record);
  record.family = family.name;
  record.hash = family.kernel("scale").hash;
  return record;
}

TEST(Snippet, SaysWhereSharedHeadersAre) {
  const Snippet snippet(record(kSpace, R"([{"name":"common/a.cuh","text":""}])"),
                        *space::device_profile("h200"), R"({"BLOCK":64})", {1000});
  EXPECT_THAT(snippet.cpp(), testing::HasSubstr("nvcc needs -I with the folder of scale.cu, "
                                                "and with its parent folder for common/, "));
}

TEST(Snippet, MakesAProgrammaticLaunch) {
  std::string space = kSpace;
  const std::string_view launch = R"("dynamic_shared_bytes": "BYTES")";
  space.insert(space.find(launch), R"("programmatic": 1, )");
  const Snippet snippet(record(space.c_str()), *space::device_profile("h200"),
                        R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000});
  EXPECT_THAT(
      snippet.cpp(),
      AllOf(HasSubstr("programmatic.id = cudaLaunchAttributeProgrammaticStreamSerialization;\n"),
            HasSubstr("configuration.gridDim = dim3(16, 1, 1);\n"),
            HasSubstr("cudaLaunchKernelEx(&configuration, kernel, N, factor, x, y, sums);\n")));
}

TEST(Snippet, IsAFunctionThatLaunchesTheConfigurationAtTheAskedSize) {
  const Snippet snippet(record(), *space::device_profile("h200"),
                        R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000});
  EXPECT_EQ(
      snippet.cpp(),
      "// scale at 1000 on NVIDIA H200; nvcc needs -I with the folder of scale.cu, compile "
      "with -gencode arch=compute_90a,code=sm_90a --use_fast_math\n"
      "#define WIDTH 4\n"
      "#include \"scale.cu\"\n"
      "#undef WIDTH\n\n"
      "#include <cuda_runtime.h>\n\n"
      "// Scratch memory: zero before the first call, not shared by concurrent launches:\n"
      "// sums (15 x double)\n"
      "[[maybe_unused]] static cudaError_t launch_scale(float factor, const float* x, float* y, "
      "double* sums, "
      "cudaStream_t stream) {\n"
      "  const int N = 1000;\n"
      "  const auto kernel = scale<64>;\n"
      "  kernel<<<dim3(16, 1, 1), dim3(64, 1, 1), 1024, stream>>>(N, factor, x, y, sums);\n"
      "  return cudaGetLastError();\n"
      "}\n");
}

TEST(Snippet, NoArgumentHidesTheKernelASymbolOrAVariableOfTheFunction) {
  std::string space = kSpace;
  const auto replace = [&](std::string_view from, std::string_view to) {
    space.replace(space.find(from), from.size(), to);
  };
  replace(R"("name": "x", "type": "float*", "count": "N")",
          R"("name": "lut", "type": "float[]", "count": 4, "symbol": "lut")");
  replace(R"("name": "y")", R"("name": "scale")");
  replace(R"("name": "sums")", R"("name": "scale_")");
  replace(R"("name": "factor")", R"("name": "kernel")");
  const std::string text = Snippet(record(space.c_str()), *space::device_profile("h200"),
                                   R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000})
                               .cpp();
  EXPECT_THAT(text, HasSubstr("launch_scale(float kernel_, const float (&lut_)[4], float* scale__, "
                              "double* scale_, cudaStream_t stream) {"));
  EXPECT_THAT(text, HasSubstr("::lut, lut_, sizeof lut_, 0, cudaMemcpyHostToDevice, stream)"));
  EXPECT_THAT(text, HasSubstr("  const auto kernel = scale<64>;\n"));
  EXPECT_THAT(text, HasSubstr("stream>>>(N, kernel_, scale__, scale_);"));
}

TEST(Snippet, AKernelIsNamedThoughAVariableOfTheFunctionHidesIt) {
  std::string space = kSpace;
  const std::string entry = R"("entry": "scale<${BLOCK}>")";
  space.replace(space.find(entry), entry.size(), R"("entry": "stream<${BLOCK}>")");
  EXPECT_THAT(Snippet(record(space.c_str()), *space::device_profile("h200"),
                      R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000})
                  .cpp(),
              HasSubstr("  const auto kernel = ::stream<64>;\n"));
}

TEST(Snippet, RefusesAValueThatDoesNotFitItsType) {
  std::string space = kSpace;
  const std::string n = R"("type": "int", "value": "N")";
  space.replace(space.find(n), n.size(), R"("type": "u8", "value": "N")");
  try {
    const Snippet snippet(record(space.c_str()), *space::device_profile("h200"),
                          R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("argument 'N' = N: 1000 does not fit"));
  }
}

TEST(Snippet, LaunchesEveryStepInItsOrder) {
  constexpr const char* kSteps = R"json({
    "format": "space/1", "family": "sum",
    "problem": {"dims": ["N"], "flops": "N", "bytes": "4*N"},
    "arguments": [{"name": "N", "type": "int", "value": "N"},
                  {"name": "x", "type": "float*", "count": "N"},
                  {"name": "y", "type": "float*", "count": 1, "role": "output"}],
    "check": {"reference": {"kernel": "scale"}},
    "kernels": {"scale": {
      "source": "scale.cu", "parameters": {"BLOCK": {"values": [32, 64], "default": 32}},
      "scratch": [{"name": "sums", "type": "float*", "count": 4}],
      "steps": [
        {"entry": "parts<${BLOCK}>", "arguments": [{"name": "n", "type": "int", "value": "N"}, "x", "sums"],
         "launch": {"grid": [4], "block": ["BLOCK"], "dynamic_shared_bytes": 65536}},
        {"entry": "total", "arguments": ["sums", {"name": "n", "type": "int", "value": "4"}, "y"],
         "launch": {"grid": [1], "block": [32]}}]}}})json";
  const std::string text =
      Snippet(record(kSteps), *space::device_profile("h200"), R"({"BLOCK":64})", {1000}).cpp();
  EXPECT_THAT(text, HasSubstr("cudaStream_t stream) {\n"
                              "  const auto kernel_0 = parts<64>;\n"
                              "  if (const cudaError_t error = cudaFuncSetAttribute(\n"
                              "          kernel_0, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                              "65536);\n"));
  EXPECT_THAT(text, HasSubstr("  kernel_0<<<dim3(4, 1, 1), dim3(64, 1, 1), 65536, "
                              "stream>>>(1000, x, sums);\n"
                              "  const auto kernel_1 = total;\n"
                              "  kernel_1<<<dim3(1, 1, 1), dim3(32, 1, 1), 0, "
                              "stream>>>(sums, 4, y);\n"));
}

TEST(Snippet, TakesArraysByReferenceAndPassesThemByValue) {
  std::string space = kSpace;
  const std::string x = R"("type": "float*", "count": "N"})";
  space.replace(space.find(x), x.size(), R"("type": "float[]", "count": "N//4"})");
  const std::string text = Snippet(record(space.c_str()), *space::device_profile("h200"),
                                   R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000})
                               .cpp();
  EXPECT_THAT(text, HasSubstr("launch_scale(float factor, const float (&x)[250], float* y, "));
  EXPECT_THAT(text, HasSubstr("(N, factor, AnyArray<float, 250>{x}, y, sums);"));
  EXPECT_THAT(text, HasSubstr("struct AnyArray {"));
}

TEST(Snippet, SaysWhichOutputsTheCallerZeroes) {
  std::string space = kSpace;
  const std::string y = R"("role": "output"})";
  space.replace(space.find(y), y.size(), R"("role": "output", "initial": "zero"})");
  const auto text = [](const char* of) {
    return Snippet(record(of), *space::device_profile("h200"),
                   R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000})
        .cpp();
  };
  EXPECT_THAT(text(space.c_str()), HasSubstr("// Zero before each call: y\n"));
  EXPECT_THAT(text(kSpace), testing::Not(HasSubstr("Zero before each call")));
}

TEST(Snippet, OptsInToLargeSharedMemory) {
  const Snippet snippet(record(), *space::device_profile("h200"),
                        R"({"BLOCK":64,"BYTES":65536,"WIDTH":1})", {64});
  EXPECT_NE(snippet.cpp().find("cudaFuncSetAttribute(\n          kernel, "
                               "cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);"),
            std::string::npos)
      << snippet.cpp();
}

TEST(Snippet, KeepsAnotherMachinesDeviceNameInsideTheComment) {
  space::DeviceInfo device = *space::device_profile("h200");
  device.name = "H200\nint hostile;";
  const Snippet snippet(record(), device, R"({"BLOCK":64,"BYTES":1024,"WIDTH":4})", {1000});
  EXPECT_EQ(snippet.cpp().find("\nint hostile"), std::string::npos) << snippet.cpp();
}

TEST(Snippet, DefinesEveryParameterForACompiler) {
  const Snippet snippet(record(), *space::device_profile("h200"),
                        R"({"BLOCK":32,"BYTES":1024,"WIDTH":4})", {64});
  EXPECT_THAT(
      snippet.compiler_arguments(),
      testing::MatchesRegex("-DBLOCK=32 -DBYTES=1024 -DWIDTH=4 -gencode .* --use_fast_math"));
}

TEST(Snippet, PassesIntegersOf64BitsAsWhicheverTypeTheKernelTakes) {
  std::string space = kSpace;
  space.replace(space.find(R"("float*")"), 8, R"("s64*")");
  const std::string code =
      Snippet(record(space.c_str()), *space::device_profile("h200"), R"({"BLOCK":64})", {1000})
          .cpp();
  EXPECT_THAT(code, AllOf(HasSubstr("const long long* x"), HasSubstr("AnyElements{x}, y"),
                          HasSubstr("operator Element*()")));
}

TEST(Snippet, PassesMemoryAsTheTypesThatTheKernelTakes) {
  const char* const source =
      "template <int BLOCK> __global__ void scale(int N, float factor, const float4* x, float* y, "
      "Sums* sums) {}";
  const std::string code = Snippet(record(kSpace, "[]", source), *space::device_profile("h200"),
                                   R"({"BLOCK":64})", {1000})
                               .cpp();
  EXPECT_THAT(code, AllOf(HasSubstr("const float* x"), HasSubstr("operator Element*()"),
                          HasSubstr("(N, factor, AnyElements{x}, y, AnyElements{sums})")));
}

TEST(Snippet, RefusesAStoredKernelThatItCannotRead) {
  EXPECT_THROW(Snippet(record("{}"), *space::device_profile("h200"), "{}", {64}), Error);
}

}  // namespace
}  // namespace tuner::report
