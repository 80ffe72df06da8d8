// SPDX-License-Identifier: Apache-2.0
// An application that never asks for the same size again.
#include "tests/dispatch/allocations.hpp"
#include "tests/dispatch/engine_fixture.hpp"

namespace tuner::dispatch {
namespace {

TEST_F(EngineTest, WhatNewSizesLeaveBehindIsBounded) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  database.add({.size = "64,16,4", .kernel = "split", .config = R"({"PARTS":1})"});
  open();
  std::int64_t m = 100;
  const auto ask = [&](int sizes) {
    for (int i = 0; i < sizes; ++i, m += 2) {
      launch({m, 16, 4}, nullptr, i % 2 == 0 ? data : data + 1);
      static_cast<void>(engine->answer(family, Size{m + 1, 16, 4}));
    }
  };
  ask(3000);
  const std::int64_t before = live_bytes();
  ask(10'000);
  EXPECT_LT(live_bytes() - before, 1 << 20) << "of 30,000 sizes and plans";
}

TEST_F(EngineTest, WhatIsPreparedStaysHoweverManyOtherSizesAreAskedFor) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  std::vector<Size> prepared;
  for (std::int64_t m = 8; m < 80; m += 8) prepared.push_back({m, 16, 4});
  engine->prepare(family, prepared);
  for (std::int64_t m = 100; m < 5000; ++m) launch({m, 16, 4});
  for (const Size& size : prepared) {
    const int before = allocations();
    launch(size);
    EXPECT_EQ(allocations(), before);
    EXPECT_TRUE(engine->answer(family, size).prepared);
  }
}

TEST_F(EngineTest, WhatIsInUseStaysWhileOthersComeAndGo) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  const Size often = {16, 16, 4};
  launch(often);
  int remade = 0;
  for (std::int64_t m = 100; m < 5000; ++m) {
    launch({m, 16, 4});
    const int before = allocations();
    launch(often);
    if (allocations() != before) ++remade;
  }
  EXPECT_EQ(remade, 0);
}

}  // namespace
}  // namespace tuner::dispatch
