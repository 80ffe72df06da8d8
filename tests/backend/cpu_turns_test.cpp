// SPDX-License-Identifier: Apache-2.0
// What blocks see of each other in interleaved launches, which every second one is.
#include "cpu_fixture.hpp"
#include "tuner/backend/cpu/pending_writes.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>

namespace tuner::backend {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Lt;

TEST(PendingWrites, AreExchangedForWhatWasThereByteByByte) {
  std::array<std::uint8_t, 12> bytes = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto address = [&](std::size_t i) {
    return reinterpret_cast<std::uintptr_t>(&bytes.at(i));
  };
  PendingWrites writes;
  writes.note(address(2), 8);
  std::fill_n(bytes.begin() + 2, 8, std::uint8_t{2});
  writes.note(address(3), 1);  // again
  bytes[3] = 3;
  writes.forget(address(4), 1);
  writes.exchange();
  EXPECT_THAT(bytes, ElementsAre(1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1));
  bytes[11] = 4;  // another block's
  writes.exchange();
  EXPECT_THAT(bytes, ElementsAre(1, 1, 2, 3, 2, 2, 2, 2, 2, 2, 1, 4));
  writes.note(address(11), 1);
  bytes[11] = 5;
  writes.forget_newest();
  writes.exchange();
  EXPECT_EQ(bytes[11], 5);
  EXPECT_EQ(bytes[3], 1);
  writes.exchange();
  writes.forget();
  writes.exchange();
  EXPECT_EQ(bytes[3], 3);
  EXPECT_EQ(writes.words(), 0U);
}

/// Launches a kernel(int*) of 8 blocks eight times on zeros.
class CpuTurns : public CpuBackendTest {
 protected:
  /// The first number that each launch leaves.
  std::vector<int> results(const std::string& source, Launch::Bits bits = Launch::Bits::any) {
    const KernelId kernel = load(source);
    std::vector<int> results;
    for (int launch = 0; launch < 8; ++launch) {
      const BufferId out = upload(std::vector<int>(64));
      const auto done = backend().run(Launch{
          .kernel = kernel,
          .steps = {{.geometry = {.grid = {8, 1, 1}, .block = {32, 1, 1}}, .arguments = {out}}},
          .bits = bits});
      EXPECT_TRUE(done) << done.error().message;
      results.push_back(download<int>(out, 1)[0]);
      backend().release(out);
    }
    backend().unload(kernel);
    return results;
  }

  /// The last block adds what each block has left behind: 8 times 1.
  static std::string last_block(const std::string& before_arrival, const std::string& behind = "") {
    return "__global__ void kernel(int* out) {\n"
           "  if (threadIdx.x != 0) return;\n"
           "  int* const parts = out + 8;\n"
           "  parts[blockIdx.x] = 1;\n" +
           before_arrival + "\n  const bool last = atomicAdd(&out[1], 1) == 7;\n" + behind +
           "  if (!last) return;\n"
           "  __threadfence();\n"
           "  for (int i = 0; i < 8; ++i) out[0] += parts[i];\n"
           "}";
  }
};

TEST_F(CpuTurns, WritesReachOtherBlocksBehindAFenceOfTheDevice) {
  EXPECT_THAT(results(last_block("__threadfence();")), Each(8));
  EXPECT_THAT(results(last_block("__threadfence_system();")), Each(8));
  EXPECT_THAT(results(last_block("")), Contains(Lt(8)));
  EXPECT_THAT(results(last_block("__threadfence_block();")), Contains(Lt(8)));
  EXPECT_THAT(results(last_block("", "__threadfence();")), Contains(Lt(8)));
}

TEST_F(CpuTurns, AtomicAndVolatileWritesReachThemAtOnce) {
  EXPECT_THAT(results(last_block("*(volatile int*)&parts[blockIdx.x] = 1;")), Each(8));
  EXPECT_THAT(
      results(last_block("atomicExch(&parts[blockIdx.x], 2); atomicSub(&parts[blockIdx.x], 1);")),
      Each(8));
}

TEST_F(CpuTurns, APlainFlagIsSeenInTheEndWhereOthersWaitForIt) {
  EXPECT_THAT(results(R"(
      __global__ void kernel(int* out) {
        if (threadIdx.x != 0) return;
        const int mine = atomicAdd(&out[1], 1);
        volatile int* flags = out + 8;
        while (mine > 0 && flags[mine - 1] == 0) {}
        __threadfence();
        int* own = out + 8;
        out[0] = out[0] + 1;
        __threadfence();
        own[mine] = 1;
      })"),
              Each(8));
  // Before what was written before it, where no fence is between.
  EXPECT_THAT(results(R"(
      __global__ void kernel(int* out) {
        if (threadIdx.x != 0) return;
        const int mine = atomicAdd(&out[1], 1);
        volatile int* flags = out + 8;
        while (mine > 0 && flags[mine - 1] == 0) {}
        __threadfence();
        int* own = out + 8;
        out[0] = out[0] + 1;
        own[mine] = 1;
      })"),
              Contains(Lt(8)));
}

TEST_F(CpuTurns, UpdatesByOneThreadOfEachBlockAreLost) {
  EXPECT_THAT(results(R"(
      __global__ void kernel(int* out) { if (threadIdx.x == 0) out[0] += 1; })"),
              Contains(Lt(8)));
  EXPECT_THAT(results(R"(
      __global__ void kernel(int* out) {
        const int seen = *(volatile int*)out;
        if (threadIdx.x == 0) atomicCAS(out, seen, seen + 1);  // once, whatever it saw
      })"),
              Contains(Lt(8)));
}

TEST_F(CpuTurns, NumbersThatAreNotWholeInterleaveWhereBitsAreNotCompared) {
  const std::string source = R"(
      __global__ void kernel(int* out) {
        __shared__ float sum[1];
        sum[0] = 0;
        __syncthreads();
        sum[0] += 1.5f;
        __syncthreads();
        if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = (int)sum[0];
      })";
  EXPECT_THAT(results(source), Contains(Lt(48)));
  EXPECT_THAT(results(source, Launch::Bits::compared), Each(48));
}

}  // namespace
}  // namespace tuner::backend
