// SPDX-License-Identifier: Apache-2.0
// An interval may only exclude what cannot be.
#include "tuner/space/interval.hpp"

#include "tuner/space/arithmetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace tuner::space {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// What an operation gives for whole numbers, as a fraction; a fault is none.
std::optional<Rational> result(Operation operation, std::int64_t a, std::int64_t b) {
  Arithmetic<RationalArithmetic> math;
  const Rational value =
      is_unary(operation) ? math.unary(operation, {a, 1}) : math.binary(operation, {a, 1}, {b, 1});
  return math.fault() ? std::nullopt : std::optional(value);
}

Interval random_interval(std::mt19937& random) {
  static const std::vector<std::int64_t> kEnds{kLeast, kLeast + 1, -9, -2, -1, 0,         1,    2,
                                               3,      7,          40, 63, 64, kMost - 1, kMost};
  const std::int64_t a = kEnds[random() % kEnds.size()];
  const std::int64_t b = random() % 2 == 0 ? a : kEnds[random() % kEnds.size()];
  return {std::min(a, b), std::max(a, b), false};
}

/// Numbers in an interval, its ends among them.
std::vector<std::int64_t> members(Interval interval) {
  std::vector<std::int64_t> found{interval.low, interval.high};
  for (const std::int64_t n : {-9, -3, -2, -1, 0, 1, 2, 3, 4, 7, 12, 31, 32, 40, 62, 63}) {
    if (interval.low <= n && n <= interval.high) found.push_back(n);
  }
  return found;
}

void expect_inside(Operation operation, std::int64_t a, std::int64_t b, Interval interval) {
  const auto value = result(operation, a, b);
  if (!value) {
    ASSERT_TRUE(interval.may_fault) << static_cast<int>(operation) << ": " << a << ", " << b;
    return;
  }
  using Math = RationalArithmetic;
  ASSERT_TRUE(Math::compare(*value, Math::from(interval.low)) >= 0 &&
              Math::compare(*value, Math::from(interval.high)) <= 0)
      << static_cast<int>(operation) << ": " << a << ", " << b << " gives " << value->numerator
      << "/" << value->denominator << " outside " << interval.low << "…" << interval.high;
}

TEST(Interval, HoldsEveryResult) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const Interval a = random_interval(random);
    const Interval b = random_interval(random);
    for (auto code = static_cast<int>(Operation::negate);
         code <= static_cast<int>(Operation::not_equal); ++code) {
      const auto operation = static_cast<Operation>(code);
      const Interval interval = is_unary(operation) ? apply(operation, a) : apply(operation, a, b);
      for (const std::int64_t x : members(a)) {
        for (const std::int64_t y : members(b)) {
          ASSERT_NO_FATAL_FAILURE(expect_inside(operation, x, y, interval));
        }
      }
    }
  }
}

TEST(Interval, BoundsProductsAndSums) {
  const Interval product = apply(Operation::multiply, {2, 3, false}, {-4, 5, false});
  EXPECT_EQ(product.low, -12);
  EXPECT_EQ(product.high, 15);
  EXPECT_FALSE(product.may_fault);
  const Interval sum = apply(Operation::add, {2, 3, false}, {-4, 5, false});
  EXPECT_EQ(sum.low, -2);
  EXPECT_EQ(sum.high, 8);
}

TEST(Interval, DecidesComparisons) {
  EXPECT_TRUE(apply(Operation::less_equal, {1, 4, false}, {4, 9, false}).is_true());
  EXPECT_TRUE(apply(Operation::greater, {1, 4, false}, {4, 9, false}).is_false());
  EXPECT_TRUE(apply(Operation::equal, {1, 4, false}, {5, 9, false}).is_false());
  const Interval open = apply(Operation::less, {1, 4, false}, {4, 9, false});
  EXPECT_FALSE(open.is_true() || open.is_false());
}

TEST(Interval, IsNotCertainWhileAFaultIsPossible) {
  EXPECT_FALSE(apply(Operation::less, {1, 2, true}, {4, 9, false}).is_true());
  EXPECT_TRUE(apply(Operation::less, {5, 6, true}, {1, 2, false}).is_false());
  EXPECT_TRUE(apply(Operation::multiply, {1, kMost, false}, {2, 2, false}).may_fault);
}

}  // namespace
}  // namespace tuner::space
