// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/constant_memory.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::family {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What is said of a kernel with these declarations and this body; `symbol` is a variable that an
/// argument writes.
std::vector<std::string> cautions(const std::string& declarations, const std::string& body,
                                  const std::string& symbol = "") {
  const std::string array =
      symbol.empty()
          ? ""
          : R"(, {"name": "w", "type": "float[]", "count": 4, "symbol": ")" + symbol + "\"}";
  const std::string text = R"json({
    "format": "space/1", "family": "scale", "problem": {"dims": ["N"], "flops": "N", "bytes": "N"},
    "arguments": [{"name": "y", "type": "float*", "count": "N", "role": "output"})json" +
                           array + R"json(],
    "check": {"reference": {"kernel": "plain"}},
    "kernels": {"scale": {"source": "s.cu", "entry": "scale",
                          "launch": {"grid": [1], "block": [1]}},
                "plain": {"source": "s.cu", "entry": "plain",
                          "launch": {"grid": [1], "block": [1]}}}})json";
  const source::KernelSource source{.name = "s.cu",
                                    .text = declarations + "\n__global__ void scale(float* y) { " +
                                            body +
                                            " }\n__global__ void plain(float* y) { y[0] = 0; }\n",
                                    .headers = {}};
  return constant_memory_cautions(
      parse_family(text, "scale.json", {{"scale", source}, {"plain", source}}));
}

TEST(ConstantMemory, AVariableThatNothingWritesIsACaution) {
  EXPECT_THAT(
      cautions("__constant__ float weights[4];", "y[0] = weights[1];"),
      ElementsAre(HasSubstr("nothing writes the __constant__ variable 'weights' of s.cu, so "
                            "it is zero: add an array to \"arguments\" with \"symbol\": "
                            "\"weights\"")));
  EXPECT_THAT(cautions("static __constant__ __align__(16) float2 offset;", "y[0] = offset.x;"),
              ElementsAre(HasSubstr("'offset'")));
}

TEST(ConstantMemory, WhatHasAValueOrNoUseIsNone) {
  EXPECT_THAT(cautions("__constant__ float weights[4];", "y[0] = weights[1];", "weights"),
              IsEmpty());
  EXPECT_THAT(cautions("namespace a { __constant__ float weights[4]; }", "y[0] = a::weights[1];",
                       "a::weights"),
              IsEmpty());
  EXPECT_THAT(cautions("__constant__ float weights[4] = {1, 2, 3, 4};", "y[0] = weights[1];"),
              IsEmpty());
  EXPECT_THAT(cautions("__constant__ float weight = 2;", "y[0] = weight;"), IsEmpty());
  EXPECT_THAT(cautions("__constant__ float weight{2};", "y[0] = weight;"), IsEmpty());
  EXPECT_THAT(cautions("__constant__ float weights[4];", "y[0] = 1;"), IsEmpty());
}

}  // namespace
}  // namespace tuner::family
