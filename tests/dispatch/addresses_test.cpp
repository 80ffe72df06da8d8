// SPDX-License-Identifier: Apache-2.0
// What is asked of the addresses that a launch gives.
#include "tests/dispatch/engine_fixture.hpp"
#include "tests/dispatch/weighted_family.hpp"
#include "tuner/family/family.hpp"

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST_F(EngineTest, BuffersLessAlignedThanTheSizeClaimsRunOtherCode) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  database.add({.size = "8,16,4,ALIGN=2", .config = R"({"TILE":4})"});
  database.add({.size = "8,16,4,ALIGN=1", .config = R"({"TILE":8})"});
  open();
  EXPECT_EQ(launched({8, 16, 4}, nullptr, data + 2), "rows<4,2>");
  EXPECT_EQ(launched({8, 16, 4}, nullptr, data + 1), "rows<8,1>");
  EXPECT_EQ(launched({8, 16, 4}, nullptr, data), "rows<2,4>");
  auto* const odd = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(data) + 1);
  EXPECT_EQ(launched({8, 16, 4}, nullptr, odd), "library");
}

class WeightedAddressesTest : public EngineTest {
 protected:
  /// Tuned with a space file in which x has this beside its count.
  void open_with(const std::string& claim) {
    Tuned tuned = weighted("8,4");
    const std::string count = R"("count": "N + K - 1")";
    tuned.space.replace(tuned.space.find(count), count.size(), count + claim);
    tuned.space.replace(tuned.space.find(R"("count": "N",)"), 13, R"("count": "N", "align": 16,)");
    database.add({.size = "8,16,4"});
    database.add(tuned);
    open();
    weights = engine->family("weighted");
  }
  std::string launched_on(float* x) {
    const std::array<float, 4> w = {3, 1, 4, 1};
    const std::array<DispatchArgument, 3> arguments = {x, DispatchArgument::array(w.data()), data};
    try {
      engine->launch(weights, Size{8, 4}, arguments, nullptr);
      return std::string(device->last.entry);
    } catch (const DispatchError& error) {
      return error.what();
    }
  }
  FamilyId weights{};
};

TEST_F(WeightedAddressesTest, ABufferOfWhichNothingIsSaidMayBeginAtAnyElement) {
  open_with("");
  EXPECT_EQ(launched_on(data), "weigh<2,4>");
  EXPECT_EQ(launched_on(data + 1), "weigh<2,4>");
  auto* const odd = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(data) + 2);
  EXPECT_THAT(launched_on(odd),
              AllOf(HasSubstr("x begins at 0x"), HasSubstr("multiples of 4 bytes")));
}

TEST_F(WeightedAddressesTest, ABufferBeginsWhereItsFileSays) {
  open_with(R"(, "align": 8)");
  EXPECT_EQ(launched_on(data + 2), "weigh<2,4>");
  EXPECT_THAT(launched_on(data + 1),
              AllOf(HasSubstr("x begins at 0x"), HasSubstr("multiples of 8 bytes"),
                    HasSubstr("\"align\"")));
}

TEST_F(WeightedAddressesTest, AnAlignmentMayDependOnAKindOfTheProblem) {
  std::string space = kProductSpace;
  for (std::size_t at; (at = space.find(R"("offset": "ALIGN % 4")")) != std::string::npos;) {
    space.replace(at, 21, R"("align": "4*ALIGN")");
  }
  database.add({.size = "8,16,4", .config = R"({"TILE":2})", .space = space});
  database.add({.size = "8,16,4,ALIGN=1", .config = R"({"TILE":8})", .space = space});
  open();
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
  EXPECT_EQ(launched({8, 16, 4}, nullptr, data + 1), "rows<8,1>");
}

TEST_F(WeightedAddressesTest, ANullPointerIsRefusedByItsName) {
  open_with("");
  EXPECT_THAT(launched_on(nullptr), HasSubstr("weighted at 8,4: x is a null pointer"));
  EXPECT_EQ(launched_on(data), "weigh<2,4>");
  EXPECT_THAT(launched_on(nullptr), HasSubstr("x is a null pointer")) << "where there is a plan";
  EXPECT_EQ(device->launches, 1);
}

}  // namespace
}  // namespace tuner::dispatch
