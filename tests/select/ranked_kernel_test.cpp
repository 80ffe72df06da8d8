// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/ranked_kernel.hpp"

#include "example_kernels.hpp"
#include "tuner/core/error.hpp"
#include "tuner/select/launch_shape.hpp"

#include <gmock/gmock.h>

namespace tuner::select {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;
using testing::ThrowsMessage;

TEST(RankedKernel, ReadsDimensionsAndKernelsInTheOrderOfTheFile) {
  EXPECT_THAT(RankedKernel(example_kernel("tiled")).dims().names(), ElementsAre("M", "N"));
  EXPECT_THAT(RankedKernel(example_kernel("tiled")).family_kernels(),
              ElementsAre("plain", "tiled"));
}

TEST(RankedKernel, ChecksConfigurationsAtASizeOnADevice) {
  const RankedKernel kernel(example_kernel("tiled"));
  const space::Config widest = space::config_from_json(kernel.definition(), R"({"TILE":64})");
  space::DeviceAttributes device{.max_threads_per_block = 1024};
  EXPECT_EQ(why_invalid(kernel, kernel.at(device, {64, 1}), widest), std::nullopt);
  EXPECT_THAT(why_invalid(kernel, kernel.at(device, {48, 1}), widest),
              Optional(HasSubstr("only whole tiles")));
  device.max_threads_per_block = 512;
  EXPECT_THAT(why_invalid(kernel, kernel.at(device, {64, 1}), widest),
              Optional(HasSubstr("legal block")));
}

TEST(RankedKernel, NeedsALaunchAndNumbersThatCudaHas) {
  store::KernelRecord record = example_kernel("tiled");
  record.space_text = R"json({
    "format": "space/1", "family": "tiles",
    "problem": {"dims": ["M", "N"], "flops": "M*N", "bytes": "4*M*N"},
    "arguments": [{"name": "x", "type": "float*", "count": "M*N", "role": "output"},
                  {"name": "n", "type": "int", "value": "M*N"},
                  {"name": "unused", "type": "char", "value": "N"}],
    "kernels": {"tiled": {
      "entry": "tiled<${TILE}>", "arguments": ["x", "n", {"name": "t", "type": "short", "value": "TILE*N"}],
      "parameters": {"TILE": {"values": [8, 64], "default": 8}},
      "launch": {"grid": ["ceil_div(N, TILE)", "M"], "block": ["TILE"]}}}})json";
  const RankedKernel kernel(record);
  const auto why = [&](std::int64_t m, std::int64_t n, std::string_view config) {
    return why_invalid(kernel, kernel.at({}, {m, n}),
                       space::config_from_json(kernel.definition(), config));
  };
  EXPECT_EQ(why(65535, 500, R"({"TILE":64})"), std::nullopt);
  EXPECT_THAT(why(65536, 500, R"({"TILE":64})"), Optional(HasSubstr("is 65536, outside of 1")));
  EXPECT_THAT(why(60000, 40000, R"({"TILE":8})"), Optional(HasSubstr("does not fit an argument")));
  EXPECT_THAT(why(8, 1000, R"({"TILE":64})"), Optional(HasSubstr("argument 't'")));
  EXPECT_EQ(why(8, 1000, R"({"TILE":8})"), std::nullopt);
}

TEST(RankedKernel, NeedsArraysMapsAndNumbersOfATypeOfTheSizeThatCudaHas) {
  store::KernelRecord record = example_kernel("tiled");
  record.space_text = R"json({
    "format": "space/1", "family": "tiles",
    "problem": {"dims": ["M", "N", {"name": "TYPE", "default": "wide", "types": {
                  "wide": {"C": "s32"}, "narrow": {"C": "s8"}, "real": {"C": "f32"}}}],
                "flops": "M*N", "bytes": "4*M*N"},
    "arguments": [{"name": "x", "type": "float*", "count": "M*N", "role": "output"},
                  {"name": "m", "type": "${C}", "value": "M"},
                  {"name": "factor", "type": "${C}", "value": 1},
                  {"name": "half", "type": "float", "value": 0.5},
                  {"name": "weights", "type": "float[]", "count": "N"}],
    "kernels": {"tiled": {
      "entry": "tiled<${TILE}>", "parameters": {"TILE": {"values": [8], "default": 8}},
      "tensor_maps": [{"name": "t", "buffer": "x", "extents": ["N", "M"], "strides": ["N - 3"], "box": ["TILE", 1]}],
      "launch": {"grid": [1], "block": [32]}}}})json";
  const RankedKernel kernel(record);
  const auto why = [&](const space::Size& size) {
    return why_invalid(kernel, kernel.at({}, size),
                       space::config_from_json(kernel.definition(), "{}"));
  };
  EXPECT_EQ(why({100, 1024, 1}), std::nullopt);
  EXPECT_THAT(why({200, 4, 1}), Optional(HasSubstr("argument 'm' = M: 200")));
  EXPECT_EQ(why({200, 4, 0}), std::nullopt);
  EXPECT_EQ(why({200, 4, 2}), std::nullopt);
  EXPECT_THAT(why({1, 1025, 0}), Optional(HasSubstr("'weights': its count \"N\" is 1025")));
  EXPECT_THAT(why({1, 3, 0}), Optional(HasSubstr("tensor map t: strides[0] = N - 3 is 0")));
}

TEST(RankedKernel, IsShapedByTheStepOfMostThreads) {
  store::KernelRecord record = example_kernel("tiled");
  record.space_text = R"json({
    "format": "space/1", "family": "tiles",
    "problem": {"dims": ["M", "N"], "flops": "M*N", "bytes": "4*M*N"},
    "kernels": {"tiled": {
      "parameters": {"TILE": {"values": [8, 64], "default": 8}},
      "derived": {"PARTS": "ceil_div(M, 100)"},
      "steps": [
        {"entry": "clear", "launch": {"grid": [1], "block": [32]}},
        {"entry": "add<${TILE}>", "launch": {"grid": ["M", "2"], "block": ["TILE"]}},
        {"entry": "total<${PARTS}>", "launch": {"grid": [1], "block": [1024]}}]}}})json";
  const RankedKernel kernel(record);
  ASSERT_EQ(kernel.kernel().steps.size(), 3U);
  const space::DeviceAttributes device{.max_threads_per_block = 1024};
  const auto shape_of = [&](std::string_view config) {
    return launch_shape(kernel, device, kernel.at(device, {200, 1}),
                        space::config_from_json(kernel.definition(), config), 0);
  };
  EXPECT_EQ(shape_of(R"({"TILE":8})")->blocks, 400);
  EXPECT_EQ(shape_of(R"({"TILE":64})")->warps, 2);
  EXPECT_EQ(shape_of(R"({"TILE":8})")->variant, "2")
      << "what stands in a later entry is other code";
}

TEST(RankedKernel, SaysWhichTypeThisBuildDoesNotKnow) {
  store::KernelRecord kernel = example_kernel("tiled");
  kernel.space_text =
      R"({"format": "space/1", "family": "f", "problem": {"dims": ["M", {"name": "TYPE", "default": "fp4", "types": {"fp4": {"A": "fp4"}}}]}})";
  EXPECT_THAT([&] { static_cast<void>(stored_file(kernel)); },
              ThrowsMessage<Error>(AllOf(HasSubstr("stored space file of tiled"),
                                         HasSubstr("unknown type \"fp4\""))));
}

TEST(RankedKernel, SaysWhichKernelsStoredTextIsNoSpaceFile) {
  for (const char* text : {"", "{", "{}", "[]", R"({"format":"space/1","problem":{"dims":7}})"}) {
    store::KernelRecord kernel = example_kernel("tiled");
    kernel.space_text = text;
    EXPECT_THAT(
        [&] { static_cast<void>(stored_file(kernel)); },
        ThrowsMessage<Error>(AllOf(HasSubstr("stored space file of tiled"), HasSubstr("tune"))))
        << text;
  }
}

}  // namespace
}  // namespace tuner::select
