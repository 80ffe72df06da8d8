// SPDX-License-Identifier: Apache-2.0
// Writes that a launch of the cpu backend must not do: to inputs, guard zones and the margins
// around all memory.
#include "cpu_fixture.hpp"

#include <gmock/gmock.h>

#include <csignal>
#include <string>
#include <vector>

namespace tuner::backend {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

/// Borrows a word of its input, or one so far from its begin.
constexpr const char* kBorrow = R"(
  __global__ void borrow(volatile int* x, int from, int to, int* y) {
    for (int i = from; i < to; ++i) { const int own = x[i]; x[i] = 0; x[i] = own; }
    y[0] = x[0];
  })";

class CpuReadOnlyData : public CpuBackendTest {
 protected:
  /// Borrows the words from one place to another of 5,000, of which those from 1,000 on are x,
  /// 3,000 of them.
  Expected<void, Failure> borrow(int from, int to) {
    return backend().run(
        Launch{.kernel = kernel_,
               .steps = {{.geometry = {}, .arguments = {Region(words_, 4000), from, to, result_}}},
               .read_only = {{"x", Region(words_, 4000), 12000, 4}}});
  }
  std::vector<int> words() { return download<int>(words_, 5000); }

 private:
  KernelId kernel_ = load(kBorrow, "borrow");
  BufferId words_ = upload(std::vector<int>(5000, 7));
  BufferId result_ = upload(std::vector<int>(1));
};

TEST_F(CpuReadOnlyData, IsNotWrittenWithoutNotice) {
  EXPECT_TRUE(borrow(0, 0));
  for (const int first : {0, 1, 1500, 2999}) {
    const auto done = borrow(first, 3000);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().outcome, Outcome::out_of_bounds);
    EXPECT_THAT(done.error().message,
                HasSubstr("wrote its input x, at x[" + std::to_string(first) + "]; "));
  }
  EXPECT_TRUE(borrow(0, 0));
  EXPECT_THAT(words(), Each(7));
}

TEST_F(CpuReadOnlyData, EndsWhereItsNeighboursBegin) {
  EXPECT_TRUE(borrow(-1000, 0));
  EXPECT_TRUE(borrow(3000, 4000));
  EXPECT_FALSE(borrow(-1, 3000));
}

using CpuReadOnlyDataDeathTest = CpuReadOnlyData;
#if defined(__x86_64__)
/// Many blocks add up beside a guard zone, as a product does in its output, while one borrows a
/// word of the guard zone.
TEST_F(CpuBackendTest, AWriteToAGuardIsSeenWhileOtherBlocksWriteOnItsPage) {
  const KernelId kernel = load(R"(
    __global__ void add(volatile int* y, int guard) {
      for (int i = 0; i < 20; ++i) y[blockIdx.x] += i;
      if (blockIdx.x == 31 && guard) { const int own = y[64]; y[64] = 0; y[64] = own; }
    })",
                               "add");
  const BufferId words = upload(std::vector<int>(65));
  for (int launch = 0; launch < 20; ++launch) {
    const int guard = launch % 2;
    const auto done = backend().run(
        Launch{.kernel = kernel,
               .steps = {{.geometry = {.grid = {64, 1, 1}}, .arguments = {words, guard}}},
               .faults_on_write = true,
               .guards = {{"behind y", Region(words, 256), 4, 4}}});
    ASSERT_EQ(static_cast<bool>(done), guard == 0);
    if (!done) {
      EXPECT_THAT(done.error().message, HasSubstr("wrote the guard zone behind y"));
    }
  }
}
#endif

TEST_F(CpuReadOnlyDataDeathTest, OtherFaultsEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a fork would leave the workers behind
  EXPECT_EXIT(static_cast<void>(borrow(1 << 28, (1 << 28) + 1)), testing::KilledBySignal(SIGSEGV),
              "");
}

/// A kernel that reads and, where it is told to, writes beside its buffer of four words.
class CpuMargins : public CpuBackendTest {
 protected:
  Expected<void, Failure> reach(long long place, int written) {
    return backend().run(Launch{.kernel = kernel_,
                                .steps = {{.geometry = {}, .arguments = {words_, place, written}}},
                                .read_only = {{"x", words_, 4, 4}}});
  }

 private:
  KernelId kernel_ = load(
      "__global__ void reach(volatile int* x, long long place, int written) {\n"
      "  x[1] = x[place]; if (written) x[place] = 7; }",
      "reach");
  BufferId words_ = upload(std::vector<int>(4));
};

using CpuMarginsDeathTest = CpuMargins;
TEST_F(CpuMarginsDeathTest, AreReadableAndAWriteIntoThemEndsTheProcessAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const long long place : {100'000LL, -100'000LL, 0x7FFFFFFFLL, -0x7FFFFFFFLL}) {
    EXPECT_TRUE(reach(place, 0)) << place;
    EXPECT_EXIT(static_cast<void>(reach(place, 1)), testing::KilledBySignal(SIGSEGV), "") << place;
  }
}

}  // namespace
}  // namespace tuner::backend
