// SPDX-License-Identifier: Apache-2.0
// Kernels of one family whose functions take other parameters, by their own lists.
#include "tests/verify/verify_configuration.hpp"
#include "tuner/backend/cpu/cpu_backend.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace tuner {
namespace {

using testing::HasSubstr;

constexpr std::string_view kPlain = R"(
__global__ void plain(int n, float factor, const float* x, float* y) {
  for (int i = 0; i < n; ++i) y[i] = factor * x[i];
})";

/// Takes the pointers first, what it leaves to the block, and memory of its own between them.
constexpr std::string_view kOther = R"(
__global__ void other(const float* x, float* buffer, float* y, unsigned span, int n, float factor) {
  for (int i = blockIdx.x * span; i < n && i < (blockIdx.x + 1) * span; ++i) {
    buffer[i] = x[i] * WIDTH;
    y[i] = buffer[i] * factor / WIDTH;
  }
})";

constexpr std::string_view kDocument = R"json({
  "format": "space/1",
  "family": "scale",
  "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
  "arguments": [
    {"name": "n", "type": "int", "value": "N"},
    {"name": "factor", "type": "float", "value": 2},
    {"name": "x", "type": "float*", "count": "N"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"}
  ],
  "check": {"reference": {"kernel": "plain"}, "accumulates": 1, "sizes": [[1], [65]],
            "cases": [{"set": {"factor": 4}, "why": "the factor is used"}]},
  "kernels": {
    "plain": {"source": "plain.cu", "entry": "plain", "launch": {"grid": [1], "block": [1]}},
    "other": {
      "source": "other.cu", "entry": "other",
      "parameters": {"SPAN": {"values": [8, 16], "default": 8, "kind": "launch"}},
      "defines": {"WIDTH": "dev.warp_size"},
      "scratch": [{"name": "buffer", "type": "float*", "count": "N"}],
      "arguments": ["x", "buffer", "y", {"name": "span", "type": "unsigned", "value": "SPAN"}, "n", "factor"],
      "launch": {"grid": ["ceil_div(N, SPAN)"], "block": [1]}
    }
  }
})json";

TEST(KernelsWithParametersOfTheirOwn, AreLaunchedAndVerifiedByTheirLists) {
  const auto backend = open_cpu_backend();
  const auto verdict = [&](const std::string& document) {
    const Family family =
        parse_family(document, "scale.json",
                     {{"plain", {.name = "plain.cu", .text = std::string(kPlain), .headers = {}}},
                      {"other", {.name = "other.cu", .text = std::string(kOther), .headers = {}}}});
    Verifier verifier(*backend, family, 1);
    const auto verified =
        verify_configuration(*backend, verifier, family.kernel("other"), {100}, "SPAN=16");
    return verified ? std::string("right") : verified.error().message;
  };
  std::string document(kDocument);
  EXPECT_EQ(verdict(document), "right");
  document.replace(document.find("\"value\": \"SPAN\""), 15, "\"value\": \"SPAN-1\"");
  EXPECT_THAT(verdict(document), HasSubstr("not written"));
  document = kDocument;
  document.replace(document.find("\"x\", \"buffer\", \"y\""), 18, "\"x\", \"buffer\"");
  EXPECT_THAT(verdict(document), HasSubstr("the kernel takes 6 arguments, the launch gives 5"));
}

}  // namespace
}  // namespace tuner
