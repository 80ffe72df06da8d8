// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expected.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tuner {
namespace {

Expected<int, std::string> half(int number) {
  if (number % 2 != 0) return Unexpected(std::string("odd"));
  return number / 2;
}

TEST(Expected, HoldsAValueOrTheReasonForNone) {
  EXPECT_TRUE(half(4).has_value());
  EXPECT_EQ(*half(4), 2);
  EXPECT_FALSE(half(3));
  EXPECT_EQ(half(3).error(), "odd");
}

TEST(Expected, ThrowsWhenTheAbsentSideIsAskedFor) {
  EXPECT_THROW(static_cast<void>(half(3).value()), std::bad_variant_access);
  EXPECT_THROW(static_cast<void>(half(4).error()), std::bad_variant_access);
}

TEST(Expected, CarriesWhatCanOnlyBeMoved) {
  Expected<std::unique_ptr<int>, std::string> owner(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(owner);
  EXPECT_EQ(*taken, 7);
}

TEST(Expected, OfNothingTellsSuccessFromFailure) {
  const Expected<void, std::string> done;
  const Expected<void, std::string> failed = Unexpected(std::string("why"));
  EXPECT_TRUE(done.has_value());
  EXPECT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error(), "why");
}

TEST(Expected, KeepsValueAndErrorOfOneTypeApart) {
  const Expected<std::string, std::string> value(std::string("text"));
  const Expected<std::string, std::string> error = Unexpected(std::string("text"));
  EXPECT_TRUE(value.has_value());
  EXPECT_FALSE(error.has_value());
}

}  // namespace
}  // namespace tuner
