// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/plain_updates.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::source {
namespace {

bool has_updates(const std::string& body) {
  return has_plain_updates(
      {.name = "k.cu",
       .text = "__device__ int visits; __device__ int twice(int n) { return n; }\n"
               "__global__ void k(int n, const float* __restrict__ x, float *out, int* total) {\n"
               "  __shared__ int bins[64], count; extern __shared__ float tile[];\n" +
               body + "\n}\n",
       .headers = {}});
}

TEST(PlainUpdates, OfSharedMemoryAndBehindPointersAreFound) {
  for (const char* body :
       {"bins[i]++;", "++bins[i];", "bins[x[i] % 64] += 1;", "bins[i] = bins[i] + 1;", "count++;",
        "count |= 4;", "tile[i] *= 2;", "bins[i] <<= 1;", "out[i] += x[i];", "*total += 1;",
        "(*total)++;", "++*total;", "float* row = out + n; row[i] -= 1;",
        "float& sum = out[i]; sum = sum + x[i]; out[i] /= 2;",
        "const float sum = out[i] + x[i]; out[i] = sum;", "int seen = *total; *total = seen + 1;",
        "visits++;", "float4* rows; rows->x += 1;"}) {
    EXPECT_TRUE(has_updates(body)) << body;
  }
}

TEST(PlainUpdates, OfAThreadsOwnVariablesAreNone) {
  for (const char* body :
       {"float sums[4]; sums[i] += x[i]; out[i] = sums[i];", "x++; out = out + 1; n += 4;",
        "bins[i] = 0; tile[i] = x[i];", "atomicAdd(&bins[i], 1); atomicAdd(total, bins[i]);",
        "float sum = 0; for (int i = 0; i < n; ++i) sum += x[i] * x[i]; out[n] = sum;",
        "bins[i] = x[i]; __syncthreads(); out[i] = bins[n - i];",
        "count = 1; if (count == 1) n = 2;",
        "if (bins[i] == 4 && tile[i] <= 2) out[i] = bins[i] * 2;"}) {
    EXPECT_FALSE(has_updates(body)) << body;
  }
}

TEST(PlainUpdates, BlocksMayJoinWhereSomethingIsAtomicOrVolatile) {
  const auto joins = [](const std::string& body) {
    return may_join_blocks(
        {.name = "k.cu", .text = "__global__ void k(int* x) {" + body + "}", .headers = {}});
  };
  EXPECT_TRUE(joins("atomicAdd(x, 1);"));
  EXPECT_TRUE(joins("while (*(volatile int*)x == 0) {}"));
  EXPECT_TRUE(joins("while (__ldcv(x) == 0) {}"));
  EXPECT_FALSE(joins("x[0] = 1;  // not atomic"));
}

TEST(PlainUpdates, ASourceIsOfWholeNumbersIfNothingNamesAnotherType) {
  const auto is_whole = [](const std::string& text, const std::string& root = "k") {
    return is_of_whole_numbers({.name = "k.cu", .text = text, .headers = {}}, {{root}});
  };
  EXPECT_TRUE(is_whole("__global__ void k(int4* x) { x[0].x++; }  // no float"));
  EXPECT_FALSE(is_whole("__global__ void k(const float2* x, int* y) {}"));
  EXPECT_TRUE(is_whole("__global__ void k(int* x) { int half = 32; x[half] = 1; }"));
  EXPECT_FALSE(is_whole("#include <cuda_fp16.h>\n__global__ void k(half* x) {}"));
  EXPECT_FALSE(is_whole("__global__ void k(__nv_bfloat16* x) {}"));
  EXPECT_FALSE(is_whole("__global__ void k(int* x) { x[0] = x[1] * 0.5; }"));
  EXPECT_FALSE(is_whole("template <class T> __global__ void k(T* x) {}", "k<double>"));
  EXPECT_TRUE(is_whole("__global__ void k(T* x) {}"));
  EXPECT_FALSE(is_whole("__global__ void k(T* x) {}", "-DT=float"));
}

TEST(PlainUpdates, AreFoundInHeadersToo) {
  EXPECT_TRUE(has_plain_updates(
      {.name = "k.cu",
       .text = "#include \"add.cuh\"\n",
       .headers = {{.name = "add.cuh", .text = "__device__ void add(int* to) { *to += 1; }"}}}));
}

}  // namespace
}  // namespace tuner::source
