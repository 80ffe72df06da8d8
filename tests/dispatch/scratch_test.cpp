// SPDX-License-Identifier: Apache-2.0
// Scratch memory: whose it is, what is in it, how much there is of it.
#include "tests/dispatch/engine_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <span>
#include <thread>

namespace tuner::dispatch {
namespace {

class ScratchTest : public EngineTest {
 protected:
  ScratchTest() {
    database.add({.size = "8,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
    open();
  }

  static std::size_t bytes(const Size& size) {
    return static_cast<std::size_t>(4 * size[0] * size[1]) * sizeof(float);
  }
  /// What the kernel is given.
  std::span<std::byte> scratch(const Size& size, std::uintptr_t stream = 1) {
    EXPECT_EQ(launched(size, stream_number(stream)), "split<4>");
    return {reinterpret_cast<std::byte*>(device->last.values[8]), bytes(size)};
  }
  static bool is_zero(std::span<const std::byte> memory) {
    return std::ranges::all_of(memory, [](std::byte it) { return it == std::byte{0}; });
  }
};

TEST_F(ScratchTest, IsEachStreamsOwn) {
  const auto first = scratch({8, 16, 4}, 1);
  const auto second = scratch({8, 16, 4}, 2);
  EXPECT_NE(first.data(), second.data());
  EXPECT_EQ(scratch({8, 16, 4}, 1).data(), first.data());
}

TEST_F(ScratchTest, OfAFewSizesInTurnStaysAsTheirLaunchesLeftIt) {
  for (const std::int64_t m : {8, 16, 24}) std::ranges::fill(scratch({m, 16, 4}), std::byte(m));
  for (const std::int64_t m : {8, 16, 24}) {
    EXPECT_TRUE(std::ranges::all_of(scratch({m, 16, 4}), [&](auto it) {
      return it == std::byte(m);
    })) << m;
  }
  EXPECT_TRUE(device->cleared.empty());
}

TEST_F(ScratchTest, OfTenThousandSizesIsBoundedAndZeroForEach) {
  constexpr std::size_t kLargest = 16 * 16 * 10'008;
  std::size_t most = 0;
  for (std::int64_t m = 8; m < 10'008; ++m) {
    const auto memory = scratch({m, 16, 4});
    ASSERT_TRUE(m % 64 != 0 || is_zero(memory)) << m;
    // A byte of each page: what is not cleared is found as well.
    for (std::size_t at = 0; at < memory.size(); at += 4096) memory[at] = std::byte{0xff};
    most = std::max<std::size_t>(most, device->bytes_held);
  }
  EXPECT_LE(most, ScratchPool::kKeptBytes + 4 * kLargest);
  EXPECT_THAT(device->cleared, testing::Each(stream_number(1))) << "in the order of its launches";
  engine->reload(Table::database(database.path()));
  ASSERT_TRUE(is_zero(scratch({9'000, 16, 4})));
  EXPECT_LE(device->bytes_held, most) << "a table read again takes what the old one had";
}

TEST_F(ScratchTest, LargerThanAllThatIsKeptIsKeptToo) {
  const Size large = {1024, 4096, 4};  // 64 MiB
  std::ranges::fill(scratch(large), std::byte{1});
  EXPECT_FALSE(is_zero(scratch(large))) << "as its launches left it";
  EXPECT_TRUE(is_zero(scratch({1024, 4095, 4})));
  EXPECT_EQ(device->bytes_held, bytes(large)) << "the second took it from the first";
  EXPECT_TRUE(is_zero(scratch(large)));
}

TEST_F(ScratchTest, WhereThereIsNoMoreOnePlanTakesAnothersMemory) {
  const auto first = scratch({16, 16, 4});
  device->has_memory = false;
  const auto second = scratch({8, 16, 4});
  EXPECT_EQ(second.data(), first.data());
}

TEST_F(ScratchTest, AnyNumberOfCapturesHaveSomeOfTheirOwn) {
  engine->prepare(family, std::vector<Size>{{8, 16, 4}});
  std::set<std::byte*> seen = {scratch({8, 16, 4}, 1).data()};
  for (std::uint64_t capture = 1; capture <= 50; ++capture) {
    device->capturing = {{stream_number(1), capture}};
    const auto memory = scratch({8, 16, 4}, 1);
    EXPECT_TRUE(is_zero(memory));
    EXPECT_TRUE(seen.insert(memory.data()).second) << "a graph may run beside others";
    EXPECT_EQ(scratch({8, 16, 4}, 1).data(), memory.data()) << "one after the other in a graph";
    device->capturing.clear();
  }
  EXPECT_EQ(device->forbidden_calls, 0);
}

TEST_F(ScratchTest, BranchesOfACaptureDoNotShare) {
  engine->prepare(family, std::vector<Size>{{8, 16, 4}});
  device->capturing = {{stream_number(1), 7}, {stream_number(2), 7}};
  EXPECT_NE(scratch({8, 16, 4}, 1).data(), scratch({8, 16, 4}, 2).data());
}

TEST_F(ScratchTest, ACaptureThatGetsNoneIsServedByTheNextRung) {
  engine->prepare(family, std::vector<Size>{{8, 16, 4}});
  device->capturing = {{stream_number(1), 7}};
  device->has_memory = false;
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "library");
  device->capturing.clear();
  device->has_memory = true;
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "split<4>") << "held against no configuration";
}

/// Its kernel says whether its scratch memory is zero or as it left it at this size: 1 or 0.
constexpr const char* kMarkSpace = R"json({
  "format": "space/1", "family": "mark",
  "problem": { "dims": ["N", "K"], "flops": 0, "bytes": "4*N" },
  "arguments": [
    {"name": "N", "type": "int", "value": "N"},
    {"name": "K", "type": "int", "value": "K"},
    {"name": "is_right", "type": "int*", "count": 1, "role": "output"} ],
  "check": { "reference": {"kernel": "mark"} },
  "kernels": {
    "mark": {
      "source": "product.cu", "entry": "mark", "launch": {"grid": [1], "block": [1]},
      "scratch": [ {"name": "marks", "type": "int*", "count": "N"} ] } } })json";
constexpr const char* kMarkSource = R"cuda(
extern "C" __global__ void mark(int N, int K, int* is_right, int* marks) {
  const int first = marks[0];
  *is_right = first == 0 || first == K;
  for (int i = 0; i < N; ++i) {
    if (marks[i] != first) *is_right = 0;
    marks[i] = K;
  }
}
)cuda";

TEST(ScratchOnTheCpu, IsNeverAnotherSizesWhileManyThreadsTakeItFromEachOther) {
  const auto executor = backend::open_executor("cpu", 0);
  TunedDatabase database(executor->device(), executor->environment());
  database.add({.size = "1,1",
                .kernel = "mark",
                .config = "{}",
                .family = "mark",
                .space = kMarkSpace,
                .source = kMarkSource});
  const TemporaryDirectory folder;
  DispatchOptions options;
  options.backend = "cpu";
  options.cache = folder.path() / "binaries";
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("mark");
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::int64_t round = 0; round < 24; ++round) {
        const std::int64_t k = 1 + (thread * 5 + round) % 16;  // 16 sizes of 4 MiB for 32 MiB
        alignas(16) std::int32_t is_right = -1;
        const std::array<DispatchArgument, 1> arguments = {&is_right};
        dispatcher.launch(family, Size{(1 << 20) - k, k}, arguments);
        if (is_right != 1) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tuner::dispatch
