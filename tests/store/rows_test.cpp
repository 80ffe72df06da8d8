// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/rows.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace tuner::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Samples, ReadBackAsTheVerySameNumbers) {
  const std::vector<double> samples = {1520.5, 1.0 / 3, 1e14, 5e-324};
  EXPECT_EQ(samples_from_json(samples_to_json(samples)), samples);
  EXPECT_EQ(samples_to_json({1520.5, 1498}), "[1520.5,1498]");
  EXPECT_THAT(samples_from_json("[]"), IsEmpty());
}

}  // namespace
}  // namespace tuner::store
