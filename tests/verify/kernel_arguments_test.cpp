// SPDX-License-Identifier: Apache-2.0
// Kernels of one family whose functions take other parameters, by their own lists.
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/verify_configuration.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace tuner::verify {
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

constexpr std::string_view kArgumentsDocument = R"json({
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
  const auto backend = testing_support::open_cached_cpu_backend();
  const auto verdict = [&](const std::string& document) {
    const family::Family family = family::parse_family(
        document, "scale.json",
        {{"plain", {.name = "plain.cu", .text = std::string(kPlain), .headers = {}}},
         {"other", {.name = "other.cu", .text = std::string(kOther), .headers = {}}}});
    Verifier verifier(*backend, family, 1);
    const auto verified =
        verify_configuration(*backend, verifier, family.kernel("other"), {100}, "SPAN=16");
    return verified ? std::string("right") : verified.error().message;
  };
  std::string document(kArgumentsDocument);
  EXPECT_EQ(verdict(document), "right");
  document.replace(document.find("\"value\": \"SPAN\""), 15, "\"value\": \"SPAN-4\"");
  EXPECT_THAT(verdict(document), HasSubstr("not written"));
  document = kArgumentsDocument;
  document.replace(document.find("\"x\", \"buffer\", \"y\""), 18, "\"x\", \"buffer\"");
  EXPECT_THAT(verdict(document), HasSubstr("the kernel takes 6 arguments, the launch gives 5"));
}

constexpr std::string_view kFiltered = R"json({
  "format": "space/1",
  "family": "filter",
  "problem": {"dims": ["N", "K"], "flops": "2*N*K", "bytes": "8*N"},
  "arguments": [
    {"name": "n", "type": "int", "value": "N"},
    {"name": "weights", "type": "float[]", "count": "K", "symbol": "detail::weights"},
    {"name": "x", "type": "float*", "count": "N + K"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"}
  ],
  "check": {"reference": {"kernel": "plain"}, "accumulates": "K", "sizes": [[1, "K"], [65, "K"]]},
  "kernels": {
    "plain": {"source": "plain.cu", "entry": "plain<${K}>", "arguments": ["n", "weights", "x", "y"],
              "launch": {"grid": [1], "block": [1]}},
    "other": {"source": "other.cu", "entry": "other", "defines": {"TAPS": "K"},
              "launch": {"grid": ["ceil_div(N, 32)"], "block": [32]}}
  }
})json";

constexpr std::string_view kByValue = R"(
template <int K> struct Weights { float at[K]; };
template <int K> __global__ void plain(int n, Weights<K> w, const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += w.at[k] * x[i + k];
    y[i] = sum;
  }
})";

constexpr std::string_view kByVariable = R"(
namespace detail { __constant__ float weights[2000]; }
__global__ void other(int n, const float* x, float* y) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < TAPS; ++k) sum += detail::weights[k] * x[i + k];
  y[i] = sum;
})";

/// One kernel takes the array by value, the other reads it from a variable of its source.
TEST(ArraysInVariables, HoldWhatTheReferenceTakesByValue) {
  const auto backend = testing_support::open_cached_cpu_backend();
  const auto verdict = [&](std::string source, const space::Size& size = {100, 7}) {
    const family::Family family = family::parse_family(
        kFiltered, "filter.json",
        {{"plain", {.name = "plain.cu", .text = std::string(kByValue), .headers = {}}},
         {"other", {.name = "other.cu", .text = std::move(source), .headers = {}}}});
    Verifier verifier(*backend, family, 1);
    const auto verified = verify_configuration(*backend, verifier, family.kernel("other"), size);
    return verified ? std::string("right") : verified.error().message;
  };
  const std::string source(kByVariable);
  EXPECT_EQ(verdict(source), "right");
  std::string wrong = source;
  wrong.replace(wrong.find("weights[k]"), 10, "weights[0]");
  EXPECT_THAT(verdict(wrong), HasSubstr("wrong elements: "));
  std::string renamed = source;
  for (std::size_t at; (at = renamed.find("detail")) != std::string::npos;) {
    renamed.replace(at, 6, "other_");
  }
  EXPECT_THAT(
      verdict(renamed),
      HasSubstr("the source has no __constant__ variable 'detail::weights'; a kernel without it "
                "lists the array in its \"arguments\""));
  std::string small = source;
  small.replace(small.find("2000"), 4, "4");
  EXPECT_THAT(verdict(small), HasSubstr("has 16 bytes, the space file gives it 28"));
}

}  // namespace
}  // namespace tuner::verify
