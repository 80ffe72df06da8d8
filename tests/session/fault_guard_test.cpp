// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/fault_guard.hpp"

#include "tests/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/trial_record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>

namespace tuner::session {
namespace {

using testing::HasSubstr;

class FaultGuardTest : public testing::Test {
 protected:
  /// What the guard says when as many configurations as it takes have crashed on a card.
  Error blamed(std::size_t card) {
    try {
      for (std::size_t i = 0; i < FaultGuard::kDeathsInARow; ++i) {
        guard_.ended(card, fmt::format("{{\"X\":{}}}", i), Outcome::crashed, "signal 11");
      }
    } catch (const Error& error) {
      return error;
    }
    throw std::logic_error("nothing is blamed");
  }

  std::set<std::size_t> cards_ = {0, 1};

 private:
  std::int64_t begin_run() {
    store::RunRecord record;
    record.uuid = "guarded";
    record.problems = {"10"};
    return store_.begin_run(subject_, record);
  }

  family::Family family_ = toy::family();
  toy::Device device_;
  store::Store store_ = store::Store::in_memory();
  store::Subject subject_{.device = device_.device(),
                          .environment = device_.environment(),
                          .kernel = kernel_record(family_, family_.kernels.front()),
                          .check_hash = family::check_hash(family_, family_.kernels.front())};
  FaultGuard guard_{store_, subject_, begin_run(), [this] { return cards_; }};
};

TEST_F(FaultGuardTest, CrashesOnTheOnlyCardAreTheKernelsFault) {
  cards_ = {1};
  const Error error = blamed(1);
  EXPECT_EQ(error.code(), ErrorCode::failure);
  EXPECT_THAT(error.what(), HasSubstr("common to all"));
}

TEST_F(FaultGuardTest, WhileAnotherTakesPartTheCardIsAtFault) {
  const Error error = blamed(0);
  EXPECT_EQ(error.code(), ErrorCode::no_device);
  EXPECT_THAT(error.what(), HasSubstr("other devices take part"));
}

TEST_F(FaultGuardTest, ACardAtFaultIsNoOtherCardThoughTheRunHasNotDroppedItYet) {
  EXPECT_EQ(blamed(0).code(), ErrorCode::no_device);
  const Error error = blamed(1);
  EXPECT_EQ(error.code(), ErrorCode::failure);
  EXPECT_THAT(error.what(), HasSubstr("common to all"));
}

}  // namespace
}  // namespace tuner::session
