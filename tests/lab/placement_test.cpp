// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/lab/sweep.hpp"

#include <gmock/gmock.h>

namespace tuner::lab {
namespace {

using enum measure::HostPlace;
using testing::ElementsAre;
using testing::HasSubstr;

family::Family family_of_three_buffers() {
  family::Family family;
  family.name = "three";
  family.arguments = {{.name = "N", .what = family::ScalarArgument{family::ElementType::s32}}};
  for (const char* const name : {"A", "B", "C"}) {
    family.arguments.push_back(
        {.name = name, .what = family::BufferArgument{family::ElementType::f32}});
  }
  return family;
}

TEST(ParsePlacement, NamesOnePlaceForAllOrSomeBuffers) {
  const family::Family family = family_of_three_buffers();
  EXPECT_THAT(parse_placement("mapped", family).places, ElementsAre(mapped, mapped, mapped));
  const Placement some = parse_placement("C=pinned,A=mapped", family);
  EXPECT_THAT(some.places, ElementsAre(mapped, pageable, pinned));
  EXPECT_EQ(some.name, "C=pinned,A=mapped");
}

TEST(ParsePlacement, SuggestsWhatMayBeMeant) {
  const auto says = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(parse_placement(text, family_of_three_buffers()));
      return "nothing";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(says("maped"), HasSubstr("did you mean 'mapped'?"));
  EXPECT_THAT(says("A=managed"), HasSubstr("there is no 'managed'"));
  EXPECT_THAT(says("N=pinned"), HasSubstr("three has no buffer 'N'"));
  EXPECT_THAT(says("A=mapped,B"), HasSubstr("has no buffer 'B'"));
}

}  // namespace
}  // namespace tuner::lab
