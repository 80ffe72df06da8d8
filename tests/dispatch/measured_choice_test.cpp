// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/measured_choice.hpp"

#include "tests/dispatch/engine_fixture.hpp"

namespace tuner::dispatch {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// Of sizes that were never tuned, by measurement.
class MeasuredChoiceTest : public EngineTest {
 protected:
  MeasuredChoiceTest() {
    database.add_all({{.size = "8,16,4", .config = R"({"TILE":2})"},
                      {.size = "64,16,4", .config = R"({"TILE":4})"}});
    database.add({.size = "64,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
    open();
    device->time_ns = {{"rows<2,4>", 500}, {"rows<4,4>", 200}, {"split<4>", 700}, {"library", 300}};
  }

  [[nodiscard]] Answer prepare(const space::Size& size) {
    return engine->prepare(family, {{size}}, ChooseBy::measurement).front().answer.value();
  }
};

TEST_F(MeasuredChoiceTest, TheFastestRunsAndTheOthersAreNamed) {
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.rung, Rung::nearest);
  EXPECT_EQ(answer.configuration, R"({"TILE":4})");
  EXPECT_EQ(answer.expected_ns, 200);
  EXPECT_EQ(answer.saved_ns, 100);
  EXPECT_THAT(answer.explanation, Contains(HasSubstr("measured: the library takes 300.0 ns")));
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>");
  device->time_ns["library"] = 100;
  EXPECT_EQ(prepare({32, 16, 4}).rung, Rung::library);
  EXPECT_EQ(launched({32, 16, 4}), "library");
}

TEST_F(MeasuredChoiceTest, WhatIsFasterThanTheLibraryOnAStreamIsComparedWithItInGraphs) {
  device->has_graphs = true;
  device->time_ns["rows<2,4>"] = 250;
  device->time_ns["graph rows<2,4>"] = 180;
  device->time_ns["graph rows<4,4>"] = 220;
  device->time_ns["graph library"] = 270;
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.configuration, R"({"TILE":2})");
  EXPECT_EQ(answer.expected_ns, 180);
  EXPECT_THAT(answer.explanation,
              Contains(HasSubstr("measured: the library in graphs takes 270.0 ns")));
}

TEST_F(MeasuredChoiceTest, WhatIsNoFasterThanTheLibraryInGraphsIsNotTaken) {
  device->has_graphs = true;
  device->time_ns["graph rows<4,4>"] = 220;
  device->time_ns["graph library"] = 219;
  EXPECT_EQ(prepare({16, 16, 4}).rung, Rung::library);
}

TEST_F(MeasuredChoiceTest, TakesThePlaceOfWhatWasExpected) {
  ASSERT_EQ(launched({16, 16, 4}), "rows<2,4>") << "the nearest";
  static_cast<void>(prepare({16, 16, 4}));
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>");
  device->time_ns["library"] = 100;
  static_cast<void>(prepare({16, 16, 4}));
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>") << "once measured, the choice stands";
}

TEST_F(MeasuredChoiceTest, WhatWasTunedForTheSizeIsNotMeasuredAgain) {
  EXPECT_EQ(prepare({8, 16, 4}).rung, Rung::exact);
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
  EXPECT_EQ(device->launches, 1);
}

TEST_F(MeasuredChoiceTest, WhatCannotBeLaunchedIsLeftOut) {
  device->fails_to_launch = {"rows<4,4>"};
  EXPECT_EQ(prepare({16, 16, 4}).rung, Rung::library);
}

TEST_F(MeasuredChoiceTest, MemoryOfThoseThatLostIsGivenBack) {
  static_cast<void>(prepare({16, 16, 4}));
  EXPECT_EQ(device->bytes_held, 0U);
}

TEST_F(MeasuredChoiceTest, WithoutMemoryExpectationDecides) {
  device->has_memory = false;
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.configuration, R"({"TILE":2})");
  EXPECT_THAT(answer.explanation, Contains(HasSubstr("not measured: out of memory")));
}

TEST_F(MeasuredChoiceTest, WhatWasMeasuredIsKeptForTheNextProcess) {
  static_cast<void>(prepare({16, 16, 4}));
  open();
  device->time_ns["library"] = 100;
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.configuration, R"({"TILE":4})");
  EXPECT_EQ(answer.expected_ns, 200);
  EXPECT_THAT(answer.explanation,
              Contains(HasSubstr("measured earlier: the library takes 300.0 ns")));
  EXPECT_EQ(device->launches, 0);
  EXPECT_EQ(device->compilations, 0) << "kept too, and of one kernel alone";
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>");
  EXPECT_EQ(prepare({32, 16, 4}).rung, Rung::library) << "another size is measured";
}

TEST_F(MeasuredChoiceTest, WhatWasTunedSinceIsMeasuredAgain) {
  static_cast<void>(prepare({16, 16, 4}));
  database.add({.size = "48,16,4", .config = R"({"TILE":8})"});
  open();
  device->time_ns = {{"rows<8,4>", 50}};
  EXPECT_EQ(prepare({16, 16, 4}).configuration, R"({"TILE":8})");
}

TEST_F(MeasuredChoiceTest, OfAPortfolioTheMembersAreMeasuredAndNothingElse) {
  const Tuned member{.size = "48,16,4", .config = R"({"TILE":8})"};
  database.add(member);
  database.add_portfolio(
      {member, {.size = "64,16,4", .kernel = "split", .config = R"({"PARTS":4})"}});
  open();
  device->time_ns = {{"rows<8,4>", 250}, {"rows<4,4>", 10}, {"split<4>", 150}, {"library", 300}};
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.configuration, R"({"PARTS":4})");
  EXPECT_THAT(answer.explanation, Not(Contains(HasSubstr(R"({"TILE":4})"))));
  EXPECT_EQ(prepare({64, 16, 4}).rung, Rung::exact) << "what was tuned stays first";
}

TEST_F(MeasuredChoiceTest, ItsMembersAreExpectedToBeFastestToo) {
  EXPECT_EQ(launched({16, 16, 4}), "rows<2,4>");
  database.add_portfolio({{.size = "64,16,4", .config = R"({"TILE":4})"}});
  open();
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>") << "the nearest winner is no member";
  database.add_portfolio({{.size = "64,16,4", .config = R"({"TILE":4})"}}, 100);
  open();
  EXPECT_EQ(launched({16, 16, 4}), "library") << "which was faster where they were chosen";
}

TEST_F(MeasuredChoiceTest, WhatLackedMemoryIsNotKept) {
  device->has_memory_to_load = false;
  EXPECT_EQ(prepare({16, 16, 4}).rung, Rung::library);
  open();
  device->time_ns = {{"rows<4,4>", 200}};
  EXPECT_EQ(prepare({16, 16, 4}).configuration, R"({"TILE":4})");
}

TEST_F(MeasuredChoiceTest, WithTunedKernelsIgnoredNothingIsKeptOrUsed) {
  settings.tuned = TunedKernels::ignored;
  open();
  EXPECT_EQ(prepare({16, 16, 4}).rung, Rung::library);
  settings.tuned = TunedKernels::used;
  open();
  device->time_ns = {{"rows<4,4>", 200}};
  EXPECT_EQ(prepare({16, 16, 4}).configuration, R"({"TILE":4})");
  settings.tuned = TunedKernels::ignored;
  open();
  EXPECT_EQ(prepare({16, 16, 4}).rung, Rung::library);
}

TEST_F(MeasuredChoiceTest, TheLibraryIsLeftForACertainGainAlone) {
  device->time_ns = {{"rows<2,4>", 299}, {"rows<4,4>", 299}, {"split<4>", 299}, {"library", 300}};
  EXPECT_EQ(prepare({16, 16, 4}).rung, Rung::library) << "0.3 % are not worth other last bits";
  device->time_ns["rows<4,4>"] = 294;
  EXPECT_EQ(prepare({32, 16, 4}).configuration, R"({"TILE":4})") << "2 % are";
}

TEST_F(MeasuredChoiceTest, TheLibrarysAlgorithmsAreAmongTheContenders) {
  device->algorithms = {"lt/1", "lt/2"};
  device->workspace_bytes = 512;
  device->time_ns["lt/2"] = 150;
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.rung, Rung::library_tuned);
  EXPECT_EQ(answer.expected_ns, 150);
  EXPECT_THAT(answer.explanation,
              Contains(HasSubstr("measured: the library by algorithm lt/2 takes 150.0 ns")));
  EXPECT_EQ(launched({16, 16, 4}), "lt/2");
  EXPECT_NE(device->last_workspace, nullptr);
}

TEST_F(MeasuredChoiceTest, AnAlgorithmIsKeptForTheNextProcess) {
  device->algorithms = {"lt/1", "lt/2"};
  device->time_ns["lt/2"] = 150;
  static_cast<void>(prepare({16, 16, 4}));
  open();
  device->algorithms = {"lt/1", "lt/2"};
  const Answer answer = prepare({16, 16, 4});
  EXPECT_EQ(answer.rung, Rung::library_tuned);
  EXPECT_THAT(
      answer.explanation,
      Contains(HasSubstr("measured earlier: the library by algorithm lt/2 takes 150.0 ns")));
  EXPECT_EQ(launched({16, 16, 4}), "lt/2");
  open();  // where the library takes it no more
  EXPECT_EQ(prepare({16, 16, 4}).configuration, R"({"TILE":4})")
      << "the next one of the kept order";
}

TEST_F(MeasuredChoiceTest, WhereNoKernelIsNearTheLibrarysAlgorithmsRemain) {
  device->algorithms = {"lt/1"};
  device->time_ns = {{"lt/1", 100}, {"library", 300}};
  EXPECT_EQ(prepare({17, 16, 4}).rung, Rung::library_tuned) << "17 rows are no whole tiles";
}

TEST_F(MeasuredChoiceTest, WhatIsHopelessIsNotTimedAgain) {
  device->time_ns["split<4>"] = 1e6;
  device->launches = 0;
  const Answer answer = prepare({16, 16, 4});
  EXPECT_THAT(answer.explanation, Contains(HasSubstr(R"(split {"PARTS":4} takes 1.000 ms)")));
}

TEST_F(MeasuredChoiceTest, SizesOfOneCallUseTheSameMemory) {
  const auto filled = [&](const std::vector<Size>& sizes) {
    device->filled_bytes = 0;
    for (const Preparation& it : engine->prepare(family, sizes, ChooseBy::measurement)) {
      EXPECT_TRUE(it.answer) << it.error;
    }
    return device->filled_bytes;
  };
  const std::size_t one = filled({{512, 16, 4}});
  EXPECT_GT(one, 0U);
  EXPECT_EQ(filled({{256, 16, 4}, {128, 16, 4}, {32, 16, 4}}), filled({{248, 16, 4}}));
}

}  // namespace
}  // namespace tuner::dispatch
