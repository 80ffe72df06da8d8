// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/write_watch.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <unistd.h>

namespace tuner::backend {
namespace {

class WriteWatchTest : public testing::Test {
 protected:
  /// Whole pages: what is watched at the end of the first and as the third, what is not before it.
  WriteWatchTest()
      : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
        memory_(static_cast<std::byte*>(std::aligned_alloc(page_bytes_, 3 * page_bytes_)),
                &std::free) {}

  [[nodiscard]] volatile std::byte& at(std::size_t offset) const { return memory_.get()[offset]; }
  [[nodiscard]] std::span<std::byte> guard() const {
    return {memory_.get() + page_bytes_ - kGuard, kGuard};
  }
  [[nodiscard]] std::span<std::byte> third_page() const {
    return {memory_.get() + 2 * page_bytes_, page_bytes_};
  }
  void write_beside_the_guard(std::size_t times) const {
    for (std::size_t i = 0; i < times; ++i) at(i % (page_bytes_ - kGuard)) = std::byte{1};
  }

  static constexpr std::size_t kGuard = 16;
  SharedPages shared_;
  std::size_t page_bytes_;
  std::unique_ptr<std::byte, decltype(&std::free)> memory_;
};

#if defined(__x86_64__)
TEST_F(WriteWatchTest, AWriteToAGuardIsSeenAfterManyBesideIt) {
  const WriteWatch watch({guard()}, WriteWatch::Faults::every, &shared_);
  write_beside_the_guard(1000);
  EXPECT_FALSE(watch.first_write());
  at(page_bytes_ - 1) = std::byte{1};
  ASSERT_TRUE(watch.first_write());
  EXPECT_EQ(watch.first_write()->offset_bytes, kGuard - 1);
}

/// Stores that go to the second mapping of the page, and one that does not: its address is what it
/// writes.
TEST_F(WriteWatchTest, WritesOfEveryFormBesideAGuardArriveAndLeaveItWatched) {
  volatile std::byte& first = at(64);
  auto* const place = const_cast<std::byte*>(&first);
  void* const own = place + 32;
  {
    const WriteWatch watch({guard(), third_page()}, WriteWatch::Faults::every, &shared_);
    std::byte* base = place;
    asm volatile("movl $5, (%0)" : "+r"(base)::"memory");
    EXPECT_EQ(base, place) << "the register is as before";
    asm volatile("movl $7, (%0)\n\tlock addl $1, (%0)" ::"r"(place) : "memory", "cc");
    asm volatile("movd %1, %%xmm0\n\tmovups %%xmm0, 16(%0)" ::"r"(place), "r"(9)
                 : "xmm0", "memory");
    asm volatile("mov %0, (%0)" ::"r"(own) : "memory");
    std::byte* string = place + 48;
    long bytes = 3;
    asm volatile("cld\n\trep stosb" : "+D"(string), "+c"(bytes) : "a"(5) : "memory", "cc");
    EXPECT_FALSE(watch.first_write());
    at(page_bytes_ - kGuard) = std::byte{1};
    ASSERT_TRUE(watch.first_write());
    EXPECT_EQ(watch.first_write()->offset_bytes, 0U);
  }
  const auto value = [&](std::size_t offset) { return std::to_integer<int>(at(64 + offset)); };
  EXPECT_EQ(value(0), 8);
  EXPECT_EQ(value(16), 9);
  void* written = nullptr;
  std::memcpy(&written, own, sizeof written);
  EXPECT_EQ(written, own);
  EXPECT_EQ(value(50), 5);
  EXPECT_EQ(std::to_integer<int>(at(page_bytes_ - kGuard)), 1);
}
#endif

TEST_F(WriteWatchTest, ManyWritesBesideAGuardLeaveOtherPagesWatched) {
  constexpr std::size_t kWrites = 100'000'000;  // minutes, if each took a step
  const WriteWatch watch({guard(), third_page()}, WriteWatch::Faults::every, &shared_);
  write_beside_the_guard(kWrites);
  EXPECT_FALSE(watch.first_write());
  at(2 * page_bytes_ + 3) = std::byte{1};
  ASSERT_TRUE(watch.first_write());
  EXPECT_EQ(watch.first_write()->data, 1U);
  EXPECT_EQ(watch.first_write()->offset_bytes, 3U);
}

}  // namespace
}  // namespace tuner::backend
