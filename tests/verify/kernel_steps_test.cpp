// SPDX-License-Identifier: Apache-2.0
// Kernels of several launches are judged as a whole, and may be the reference.
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/verify_configuration.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <memory>
#include <string>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// counts[k] is how often k stands among the keys: first the counts are cleared, then each thread
/// adds its keys.
constexpr const char* kCounts = R"(
__global__ void clear(int bins, unsigned* counts) {
  const int bin = blockIdx.x * 32 + threadIdx.x;
  if (bin < bins) counts[bin] = 0;
}
__global__ void add(int n, const int* keys, unsigned* counts) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) atomicAdd(&counts[keys[i]], 1u);
}
__global__ void nothing(int bins, unsigned* counts) {}
__global__ void add_whole_blocks(int n, const int* keys, unsigned* counts) {
  if (blockIdx.x < n / 32) add(n, keys, counts);
}
__global__ void parts_ways(int n, const int* keys, unsigned* counts) {
  if (threadIdx.x % 2 == 0) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}
)";

/// Its kernel is the two functions, and the reference is the two right ones.
family::Family family(const std::string& clear, const std::string& add) {
  constexpr std::string_view kText = R"json({{
    "format": "space/1", "family": "counts",
    "problem": {{"dims": ["N", "B"], "flops": 0, "bytes": "4*N"}},
    "arguments": [{{"name": "N", "type": "int", "value": "N"}},
                  {{"name": "B", "type": "int", "value": "B"}},
                  {{"name": "keys", "type": "int*", "count": "N", "fill": {{"integers": [0, "B-1"]}}}},
                  {{"name": "counts", "type": "unsigned*", "count": "B", "role": "output"}}],
    "check": {{"reference": {{"kernel": "right"}}, "sizes": [[1, 1], [70, 40]]}},
    "kernels": {{
      "right": {{"source": "counts.cu", "steps": [
        {{"entry": "clear", "arguments": ["B", "counts"],
          "launch": {{"grid": ["ceil_div(B, 32)"], "block": [32]}}}},
        {{"entry": "add", "arguments": ["N", "keys", "counts"],
          "launch": {{"grid": ["ceil_div(N, 32)"], "block": [32]}}}}]}},
      "tried": {{"source": "counts.cu", "steps": [
        {{"entry": "{}", "arguments": ["B", "counts"],
          "launch": {{"grid": ["ceil_div(B, 32)"], "block": [32]}}}},
        {{"entry": "{}", "arguments": ["N", "keys", "counts"],
          "launch": {{"grid": ["ceil_div(N, 32)"], "block": [32]}}}}]}}
    }}
  }})json";
  const source::KernelSource source{.name = "counts.cu", .text = kCounts, .headers = {}};
  return family::parse_family(fmt::format(kText, clear, add), "counts.json",
                              {{"right", source}, {"tried", source}});
}

class KernelStepsTest : public testing::Test {
 protected:
  /// "ok", or the outcome and the message.
  std::string verdict(const std::string& clear, const std::string& add) {
    const family::Family judged = family(clear, add);
    Verifier verifier(*backend_, judged, 7);
    const auto right = verify_configuration(*backend_, verifier, judged.kernel("tried"), {300, 50});
    if (right) return "ok";
    return fmt::format("{}: {}", name(right.error().outcome), right.error().message);
  }

  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
};

TEST_F(KernelStepsTest, AreRightTogether) {
  EXPECT_EQ(verdict("clear", "add"), "ok");
}

TEST_F(KernelStepsTest, AStepThatIsWrongMakesAllWrong) {
  EXPECT_THAT(verdict("nothing", "add"), StartsWith("wrong_result: counts["));
  EXPECT_THAT(verdict("clear", "add_whole_blocks"), StartsWith("wrong_result: counts["));
}

TEST_F(KernelStepsTest, AStepThatCannotRunIsNamed) {
  EXPECT_THAT(verdict("clear", "parts_ways"),
              AllOf(StartsWith("launch_error: steps[1]: "), HasSubstr("barrier")));
}

}  // namespace
}  // namespace tuner::verify
