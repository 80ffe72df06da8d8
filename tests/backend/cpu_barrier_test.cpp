// SPDX-License-Identifier: Apache-2.0
// How the threads of a block see each other: barriers, shared memory, warps, atomics.
#include "cpu_fixture.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

namespace tuner::backend {
namespace {

using CpuBarrier = CpuBackendTest;
using testing::Each;

std::vector<int> count_down(int from) {
  std::vector<int> values(static_cast<std::size_t>(from));
  std::iota(values.rbegin(), values.rend(), 0);
  return values;
}

TEST_F(CpuBarrier, SeparatesWritesFromReadsInStaticSharedMemory) {
  const auto result = run_on_zeros(R"(
    __global__ void kernel(int* out) {
      __shared__ int values[1024];
      values[threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
    })",
                                   {.block = {1000, 1, 1}}, 1000);
  EXPECT_EQ(result, count_down(1000));
}

TEST_F(CpuBarrier, TheOnlyThreadOfABlockDoesNotWait) {
  const std::string source = R"(
    __global__ void kernel(int* out) {
      __shared__ int value;
      value = blockIdx.x;
      __syncthreads();
      __syncwarp();
      const int sum = value + __shfl_sync(1, value, 0);
      out[blockIdx.x] = sum + __syncthreads_count(1);
    })";
  EXPECT_EQ(run_on_zeros(source, {}, 1), std::vector{1});
  std::vector<int> expected(100);
  for (int i = 0; i < 100; ++i) expected[static_cast<std::size_t>(i)] = 2 * i + 1;
  EXPECT_EQ(run_on_zeros(source, {.grid = {100, 1, 1}}, 100), expected);
}

TEST_F(CpuBarrier, HoldsRoundAfterRoundInThreeDimensionalBlocksOfManyBlocks) {
  const auto result =
      run_on_zeros(R"(
    __global__ void kernel(int* out) {
      extern __shared__ __align__(16) int values[];
      const int count = blockDim.x * blockDim.y * blockDim.z;
      const int rank = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      values[rank] = rank;
      for (int step = 0; step < 7; ++step) {
        __syncthreads();
        const int next = values[(rank + 1) % count];
        __syncthreads();
        values[rank] = next;
      }
      const int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
      out[block * count + rank] = values[rank];
    })",
                   {.grid = {3, 2, 2}, .block = {5, 3, 4}, .dynamic_shared_bytes = 240}, 720);
  for (std::size_t i = 0; i < result.size(); ++i) {
    ASSERT_EQ(result[i], static_cast<int>((i % 60 + 7) % 60)) << i;
  }
}

TEST_F(CpuBarrier, DoesNotWaitForThreadsThatHaveEnded) {
  const auto result = run_on_zeros(R"(
    __global__ void kernel(int* out) {
      __shared__ int sum;
      if (threadIdx.x == 0) sum = 0;
      __syncthreads();
      if (threadIdx.x % 3 == 0) return;
      atomicAdd(&sum, 1);
      __syncthreads();
      out[threadIdx.x] = sum;
    })",
                                   {.block = {96, 1, 1}}, 96);
  for (std::size_t i = 0; i < 96; ++i) EXPECT_EQ(result[i], i % 3 == 0 ? 0 : 64);
}

TEST_F(CpuBarrier, TakesDynamicSharedMemoryDeclaredOutsideOfTheKernel) {
  const auto result = run_on_zeros(R"(
    extern __shared__ int values[];
    __device__ int mirrored() { return values[blockDim.x - 1 - threadIdx.x]; }
    __global__ void kernel(int* out) {
      values[threadIdx.x] = threadIdx.x;
      __syncthreads();
      out[threadIdx.x] = mirrored();
    })",
                                   {.block = {64, 1, 1}, .dynamic_shared_bytes = 256}, 64);
  EXPECT_EQ(result, count_down(64));
}

TEST_F(CpuBarrier, KeepsTheAlignmentAskedOfSharedArrays) {
  const auto result = run_on_zeros(R"(
    extern __shared__ alignas(128) unsigned char dynamic_bytes[];
    __global__ void kernel(int* out) {
      __shared__ char odd;
      __shared__ alignas(64) float fixed[3];
      odd = 1;
      out[0] = reinterpret_cast<size_t>(fixed) % 64 + reinterpret_cast<size_t>(dynamic_bytes) % 128;
      out[1] = odd;
    })",
                                   {.dynamic_shared_bytes = 16}, 2);
  EXPECT_THAT(result, testing::ElementsAre(0, 1));
}

TEST_F(CpuBarrier, OfAWarpLetsTheWarpsGoTheirOwnWays) {
  const auto result = run_on_zeros(R"(
    __global__ void kernel(int* out) {
      __shared__ volatile int values[96];
      const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
      for (int step = 0; step <= warp; ++step) {  // a different number of barriers a warp
        values[threadIdx.x] = lane + step;
        __syncwarp();
        out[threadIdx.x] = values[warp * 32 + 31 - lane];
        __syncwarp();
      }
    })",
                                   {.block = {96, 1, 1}}, 96);
  for (int i = 0; i < 96; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], 31 - i % 32 + i / 32);
}

TEST_F(CpuBarrier, OfAWarpLetsItGoAheadOfOthersInEveryOtherLaunch) {
  const auto run = [&] {
    return run_on_zeros(R"(
      __global__ void kernel(int* out) {
        __shared__ int sums[2];
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if (lane == 0) sums[warp] = 1 + warp;
        __syncthreads();
        out[threadIdx.x] = sums[0] + sums[1];
        __syncwarp();
        if (lane == 0) sums[warp] = 100;  // a barrier of the block is missing before
      })",
                        {.block = {64, 1, 1}}, 64);
  };
  const std::array<std::vector<int>, 4> results = {run(), run(), run(), run()};
  const std::vector<int> right(64, 3);
  EXPECT_EQ(std::ranges::count(results, right), 2) << "warps one behind the other show the error";
}

TEST_F(CpuBarrier, OfAWarpIsNotPassedBeforeOtherWarpsBeginInEveryOtherLaunch) {
  const auto run = [&] {
    return run_on_zeros(R"(
      __global__ void kernel(int* out) {
        __shared__ int values[32];  // one row for all warps
        const int lane = threadIdx.x % 32;
        values[lane] = threadIdx.x;
        __syncwarp();
        out[threadIdx.x] = values[31 - lane];
      })",
                        {.block = {96, 1, 1}}, 96);
  };
  std::vector<int> right;
  for (int i = 0; i < 96; ++i) right.push_back(i / 32 * 32 + 31 - i % 32);
  const std::array<std::vector<int>, 4> results = {run(), run(), run(), run()};
  EXPECT_EQ(std::ranges::count(results, right), 2) << "warps overwrite what others have not read";
}

TEST_F(CpuBarrier, OfABlockLetsOthersOvertakeItInSomeLaunches) {
  const std::string source = R"(
      __global__ void kernel(int* out) {  // out[0]: tickets; then who had finished before whom
        __shared__ int ticket;
        if (threadIdx.x == 0) ticket = atomicAdd(out, 1);
        __syncthreads();
        if (threadIdx.x > 0) return;
        if (ticket > 0) out[1 + ticket] = *(volatile int*)&out[ticket] == 0 ? 2 : 1;
        else out[1] = 1;
      })";
  const KernelId kernel = load(source);
  int launches_with_overtaking = 0;
  for (int launch = 0; launch < 128; ++launch) {
    const BufferId buffer = upload(std::vector<int>(9));
    const family::Geometry geometry{.grid = {8, 1, 1}, .block = {32, 1, 1}};
    ASSERT_TRUE(backend().run(
        Launch{.kernel = kernel, .steps = {{.geometry = geometry, .arguments = {buffer}}}}));
    const auto out = download<int>(buffer, 9);
    backend().release(buffer);
    if (std::ranges::count(out, 2) > 0) ++launches_with_overtaking;
  }
  if (backend().device().attributes.sm_count < 2) {
    EXPECT_EQ(launches_with_overtaking, 0) << "one core runs one block after the other";
  } else {
    EXPECT_GE(launches_with_overtaking, 8) << "of 64 in which blocks pause";
  }
}

TEST_F(CpuBarrier, OfAWarpOrASleepInALoopLetsTheWarpRunThatItWaitsFor) {
  const std::string before = R"(
      __global__ void kernel(int* out) {
        __shared__ volatile int turn;
        const int warp = threadIdx.x / 32;
        if (threadIdx.x == 0) turn = 0;
        __syncthreads();
        while (turn != 3 - warp) )";
  const std::string behind = R"(;  // the last warp first
        __syncwarp();
        out[threadIdx.x] = warp + 1;
        if (threadIdx.x % 32 == 0) turn = turn + 1;
      })";
  for (const std::string poll : {"__syncwarp()", "__nanosleep(100)"}) {
    const KernelId kernel = load(before + poll + behind);
    for (int launch = 0; launch < 8; ++launch) {
      const BufferId buffer = upload(std::vector<int>(128));
      const family::Geometry geometry{.block = {128, 1, 1}};
      const auto done = backend().run(
          Launch{.kernel = kernel, .steps = {{.geometry = geometry, .arguments = {buffer}}}});
      ASSERT_TRUE(done) << poll << ": " << done.error().message;
      EXPECT_EQ(download<int>(buffer, 128)[127], 4) << poll;
      backend().release(buffer);
    }
  }
}

TEST_F(CpuBarrier, ASleepWaitsForAThreadThatHasNotBegun) {
  const std::string source = R"(
      __global__ void kernel(int* out) {
        const int rank = threadIdx.x;
        volatile int* flag = out;
        if (rank < 32 ? blockIdx.x % 2 == 0 : blockIdx.x % 2 == 1) {  // either warp waits
          while (flag[1 + blockIdx.x] == 0) __nanosleep(20);
        } else {
          flag[1 + blockIdx.x] = 1;
        }
      })";
  const auto out = run_on_zeros(source, {.grid = {8, 1, 1}, .block = {64, 1, 1}}, 9);
  EXPECT_EQ(std::ranges::count(out, 1), 8);
}

TEST_F(CpuBarrier, AThreadThatPollsLetsTheOthersRun) {
  for (const std::string poll :
       {"while (atomicAdd(flag, 0) == 0) {}", "while (atomicCAS(flag, 1, 1) != 1) {}",
        "while (atomicOr(flag, 0) == 0) {}", "while (__ldcv(flag) == 0) {}",
        "while (*static_cast<volatile int*>(flag) == 0) __threadfence();"}) {
    const std::string source = R"(
        __global__ void kernel(int* out) {
          int* const flag = out + 1 + blockIdx.x;
          if (threadIdx.x < 32 ? blockIdx.x % 2 == 0 : blockIdx.x % 2 == 1) {  // either warp waits
            )" + poll + R"(
          } else {
            atomicExch(flag, 1);
          }
        })";
    const auto out = run_on_zeros(source, {.grid = {8, 1, 1}, .block = {64, 1, 1}}, 9);
    EXPECT_EQ(std::ranges::count(out, 1), 8) << poll;
  }
}

TEST_F(CpuBarrier, AThreadThatHoldsALockAtABarrierOfItsWarpGetsToReleaseIt) {
  const std::string source = R"(
      __global__ void kernel(int* out) {
        if (threadIdx.x % 32 == 0) while (atomicCAS(out, 0, 1) != 0) {}
        __syncwarp();
        const int sum = __reduce_add_sync(0xffffffffu, 1);
        if (threadIdx.x % 32 == 0) {
          out[1] += sum;
          __threadfence();
          atomicExch(out, 0);
        }
      })";
  EXPECT_EQ(run_on_zeros(source, {.grid = {8, 1, 1}, .block = {256, 1, 1}}, 2)[1], 8 * 256);
}

TEST_F(CpuBarrier, UpdatesThatAreNotAtomicAreLostInEverySecondLaunch) {
  for (const std::string update :
       {"bins[i % 2]++", "bins[i % 2] += 1", "bins[i % 2] = bins[i % 2] + 1", "out[i % 2]++",
        "*(out + i % 2) += 1"}) {
    const KernelId kernel = load(R"(
        __global__ void kernel(int* out) {
          __shared__ int bins[2];
          const int i = threadIdx.x;
          if (i < 2) bins[i] = 0;
          __syncthreads();
          )" + update + R"(;
          __syncthreads();
          if (i < 2) out[i] += bins[i];
        })");
    std::set<int> sums;
    for (int launch = 0; launch < 4; ++launch) {
      const BufferId buffer = upload(std::vector<int>(2));
      const family::Geometry geometry{.block = {64, 1, 1}};
      ASSERT_TRUE(backend().run(
          Launch{.kernel = kernel, .steps = {{.geometry = geometry, .arguments = {buffer}}}}));
      sums.insert(download<int>(buffer, 2)[0]);
      backend().release(buffer);
    }
    EXPECT_EQ(sums, (std::set{1, 32})) << update;
  }
}

TEST_F(CpuBarrier, LetsPartsOfAWarpShuffleApart) {
  const auto result = run_on_zeros(R"(
    __global__ void kernel(int* out) {
      const unsigned lower = 0x0000ffff;
      int sum = threadIdx.x;
      if (threadIdx.x < 16) {
        for (int distance = 8; distance > 0; distance /= 2) {
          sum += __shfl_xor_sync(lower, sum, distance, 16);
        }
      } else {
        sum = __shfl_down_sync(~lower, sum, 1, 16) + __popc(__ballot_sync(~lower, 1));
      }
      out[threadIdx.x] = sum;
    })",
                                   {.block = {32, 1, 1}}, 32);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(result[i], 120);
  for (int i = 16; i < 31; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], i + 1 + 16);
  EXPECT_EQ(result[31], 31 + 16) << "the last lane of a segment keeps its own value";
}

TEST_F(CpuBarrier, ThatCannotBeReachedByAllIsReportedAndLeavesTheBackendUsable) {
  const KernelId kernel = load(R"(
    __global__ void kernel(int* out) {
      if (threadIdx.x < 16) __syncthreads(); else __syncwarp();
      out[threadIdx.x] = 1;
    })");
  const BufferId buffer = upload(std::vector<int>(32));
  const Launch launch{.kernel = kernel,
                      .steps = {{.geometry = {.block = {32, 1, 1}}, .arguments = {buffer}}}};
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto done = backend().run(launch);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().outcome, Outcome::launch_error);
    EXPECT_THAT(done.error().message, testing::HasSubstr("deadlock"));
  }
  const auto after =
      run_on_zeros("__global__ void kernel(int* out) { __syncthreads(); out[threadIdx.x] = 1; }",
                   {.block = {32, 1, 1}}, 32);
  EXPECT_THAT(after, Each(1));
}

TEST_F(CpuBarrier, AtDifferentPlacesIsReportedWithBothAndLeavesTheBackendUsable) {
  const KernelId kernel = load(R"(
    __global__ void kernel(int* out) {
      if (threadIdx.x < 16) {
        __syncthreads();
      } else {
        __syncthreads();
      }
      out[threadIdx.x] = 1;
    })");
  const BufferId out = upload(std::vector<int>(32));
  const Launch launch{.kernel = kernel,
                      .steps = {{.geometry = {.block = {32, 1, 1}}, .arguments = {out}}}};
  for (int round = 0; round < 2; ++round) {
    const auto done = backend().run(launch);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().outcome, Outcome::launch_error);
    EXPECT_THAT(done.error().message, testing::AllOf(testing::HasSubstr("barrier divergence"),
                                                     testing::HasSubstr("kernel.cu:4"),
                                                     testing::HasSubstr("kernel.cu:6")));
  }
  EXPECT_THAT(run_on_zeros("__global__ void kernel(int* out) { __syncthreads(); *out = 1; }",
                           {.block = {64, 1, 1}}, 1),
              Each(1));
}

TEST_F(CpuBarrier, ThatSomeThreadsSkipMeetsTheirNextOne) {
  const KernelId kernel = load(R"(
    __global__ void kernel(int* out) {
      if (threadIdx.x < 16) __syncthreads();
      out[threadIdx.x] = 1;
      __syncthreads();
    })");
  const BufferId out = upload(std::vector<int>(32));
  const auto done = backend().run(
      Launch{.kernel = kernel, .steps = {{.geometry = {.block = {32, 1, 1}}, .arguments = {out}}}});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, testing::HasSubstr("barrier divergence"));
}

TEST_F(CpuBarrier, InAFunctionThatAllThreadsCallIsOneEverywhere) {
  const auto result = run_on_zeros(R"(
    __device__ void wait() { __syncthreads(); }
    __global__ void kernel(int* out) {
      for (int i = 0; i < 3; ++i) { wait(); atomicAdd(out, 1); }
      if (__syncthreads_or(threadIdx.x == 3)) wait();
    })",
                                   {.block = {40, 1, 1}}, 1);
  EXPECT_EQ(result[0], 120);
}

TEST_F(CpuBarrier, AtomicsCountAcrossBlocks) {
  const KernelId kernel = load(R"(
    __global__ void kernel(int* whole, unsigned* largest, float* sum, double* precise,
                           unsigned long long* swapped) {
      const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
      atomicAdd(whole, 1);
      atomicMax(largest, id);
      atomicAdd(sum, 0.5f);
      atomicAdd(precise, 0.25);
      unsigned long long seen = *swapped, expected;
      do {
        expected = seen;
        seen = atomicCAS(swapped, expected, expected + 3);
      } while (seen != expected);
    })");
  const BufferId whole = upload(std::vector<int>{0}), largest = upload(std::vector<unsigned>{0}),
                 sum = upload(std::vector<float>{0}), precise = upload(std::vector<double>{0}),
                 swapped = upload(std::vector<std::uint64_t>{0});
  const auto done =
      backend().run(Launch{.kernel = kernel,
                           .steps = {{.geometry = {.grid = {200, 1, 1}, .block = {64, 1, 1}},
                                      .arguments = {whole, largest, sum, precise, swapped}}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(download<int>(whole, 1)[0], 12800);
  EXPECT_EQ(download<unsigned>(largest, 1)[0], 12799u);
  EXPECT_EQ(download<float>(sum, 1)[0], 6400.0f);
  EXPECT_EQ(download<double>(precise, 1)[0], 3200.0);
  EXPECT_EQ(download<std::uint64_t>(swapped, 1)[0], 38400u);
}

TEST_F(CpuBarrier, CountsVotesRoundAfterRoundWithoutTheThreadsThatHaveEnded) {
  const auto result = run_on_zeros(R"(
    __global__ void kernel(int* out) {
      if (threadIdx.x == 99) return;
      int found = 0;
      for (int round = 0; round < 50; ++round) {
        found += __syncthreads_count(threadIdx.x < round);
        found += 10000 * __syncthreads_or(threadIdx.x == 90 && round == 7);
        found += 1000000 * __syncthreads_and(threadIdx.x < 99 - round % 2);
      }
      out[blockIdx.x * blockDim.x + threadIdx.x] = found;
    })",
                                   {.grid = {20, 1, 1}, .block = {100, 1, 1}}, 2000);
  for (std::size_t i = 0; i < 2000; ++i) {
    EXPECT_EQ(result[i], i % 100 == 99 ? 0 : 49 * 50 / 2 + 10000 + 25 * 1000000) << i;
  }
}

/// Every block leaves a part, and the one that comes last finds all of them: launch after launch.
TEST_F(CpuBarrier, TheLastBlockSeesWhatTheOthersWrote) {
  const KernelId kernel = load(R"(
    __global__ void __launch_bounds__(64, 2) kernel(const float4* in, volatile float* parts,
                                                    unsigned* arrived, float* out) {
      const float4 mine = __ldg(&in[blockIdx.x * 64 + threadIdx.x]);
      float sum = mine.x + mine.y + mine.z + mine.w;
      for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
      }
      __shared__ float warps[2];
      if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
      __syncthreads();
      bool last = false;
      if (threadIdx.x == 0) {
        parts[blockIdx.x] = warps[0] + warps[1];
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
      }
      if (!__syncthreads_or(last)) return;
      __threadfence();
      float total = 0;
      for (unsigned i = threadIdx.x; i < gridDim.x; i += 64) total += parts[i];
      atomicAdd(out, total);
      if (threadIdx.x == 0) *arrived = 0;
    })");
  constexpr unsigned kBlocks = 500;
  const BufferId in = upload(std::vector<float>(kBlocks * 64 * 4, 1.0f)),
                 parts = upload(std::vector<float>(kBlocks)),
                 arrived = upload(std::vector<unsigned>{0}), out = upload(std::vector<float>{0});
  for (int launch = 1; launch <= 20; ++launch) {
    backend().fill(parts, 0, kBlocks * sizeof(float));
    const auto done =
        backend().run(Launch{.kernel = kernel,
                             .steps = {{.geometry = {.grid = {kBlocks, 1, 1}, .block = {64, 1, 1}},
                                        .arguments = {in, parts, arrived, out}}}});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(download<float>(out, 1)[0], static_cast<float>(launch * 128000));
  }
}

}  // namespace
}  // namespace tuner::backend
