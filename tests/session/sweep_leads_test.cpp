// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/sweep_leads.hpp"

#include <gmock/gmock.h>

namespace tuner::session {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Leads, ChangeWhereTheCurvesCross) {
  const SweepCurve cpu{.name = "CPU", .times_ns = {1, 2, 8, 64}};
  const SweepCurve gpu{.name = "GPU", .times_ns = {5, 5, 6, 7}};
  EXPECT_THAT(leads(cpu, gpu), ElementsAre(Lead{"CPU", 0, 1}, Lead{"GPU", 2, 3}));
  EXPECT_THAT(leads(gpu, cpu), ElementsAre(Lead{"CPU", 0, 1}, Lead{"GPU", 2, 3}));
}

TEST(Leads, MayChangeMoreThanOnceOrNever) {
  const SweepCurve one{.name = "one", .times_ns = {1, 3, 1}};
  const SweepCurve other{.name = "other", .times_ns = {2, 2, 2}};
  const SweepCurve slow{.name = "slow", .times_ns = {9, 9, 9}};
  EXPECT_THAT(leads(one, other),
              ElementsAre(Lead{"one", 0, 0}, Lead{"other", 1, 1}, Lead{"one", 2, 2}));
  EXPECT_THAT(leads(one, slow), ElementsAre(Lead{"one", 0, 2}));
}

TEST(Leads, AreNotClaimedWhereOneWasNotTimed) {
  const SweepCurve one{.name = "one", .times_ns = {1, std::nullopt, 1, std::nullopt}};
  const SweepCurve other{.name = "other", .times_ns = {2, 2, 2, 2}};
  EXPECT_THAT(leads(one, other), ElementsAre(Lead{"one", 0, 0}, Lead{"one", 2, 2}));
  EXPECT_THAT(leads(one, SweepCurve{.name = "none", .times_ns = {}}), IsEmpty());
}

}  // namespace
}  // namespace tuner::session
