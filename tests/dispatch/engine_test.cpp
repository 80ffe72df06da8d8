// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/engine.hpp"

#include "tests/dispatch/engine_fixture.hpp"
#include "tests/dispatch/squares_family.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/select/catalogue_json.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

TEST_F(EngineTest, LaunchesWhatWasTunedForTheSizeWithTheSizesNumbersFilledIn) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  EXPECT_EQ(launched({8, 16, 4}, stream_number(5)), "rows<2,4>");
  const FakeExecutor::Launched& last = device->last;
  EXPECT_EQ(last.arguments, 8U);
  EXPECT_EQ(last.values[0], 8U);
  EXPECT_EQ(last.values[1], 16U);
  EXPECT_EQ(last.values[2], 4U);
  EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(last.values[3])), 2.0F);
  EXPECT_EQ(last.values[4], reinterpret_cast<std::uintptr_t>(data));
  EXPECT_EQ(last.geometry.grid[0], 4U);
  EXPECT_EQ(last.stream, stream_number(5));
  const Answer answer = engine->answer(family, space::Size{8, 16, 4});
  EXPECT_EQ(answer.rung, Rung::exact);
  EXPECT_EQ(answer.expected_ns, 1000);
  EXPECT_TRUE(answer.prepared);
}

TEST_F(EngineTest, TakesTheNearestThatIsValidThenTheLibraryThenTheDefault) {
  database.add({.size = "8,16,4", .config = R"({"TILE":8})"});
  open();
  EXPECT_EQ(launched({16, 16, 4}), "rows<8,4>");
  EXPECT_EQ(engine->answer(family, space::Size{16, 16, 4}).rung, Rung::nearest);
  EXPECT_EQ(launched({9, 16, 4}), "library") << "8 rows a block do not divide 9";
  EXPECT_EQ(device->last.shape.m, 9);
  EXPECT_EQ(device->last.operands.alpha, 2);
  EXPECT_EQ(device->last.operands.beta, 1);
  EXPECT_EQ(device->last.operands[blas::kC], data);
  EXPECT_EQ(engine->answer(family, space::Size{9, 16, 4}).rung, Rung::library);
}

TEST_F(EngineTest, TheLibraryRunsWhereItWasFaster) {
  database.add({.size = "8,16,4", .ratio_to_library = 0.5});
  open();
  EXPECT_EQ(launched({8, 16, 4}), "library");
}

TEST_F(EngineTest, TheLibraryRunsByItsFastestAlgorithmWhereThatWasFaster) {
  database.add({.size = "8,16,4", .ratio_to_library = 1.2, .ratio_to_library_tuned = 0.9});
  open();
  device->algorithms = {"fast"};
  EXPECT_EQ(launched({8, 16, 4}), "fast");
  EXPECT_EQ(device->last.operands.alpha, 2);
  EXPECT_EQ(device->last_workspace, nullptr);
  EXPECT_EQ(engine->answer(family, space::Size{8, 16, 4}).rung, Rung::library_tuned);
}

TEST_F(EngineTest, AnAlgorithmHasAWorkspaceOnEachStream) {
  database.add({.size = "8,16,4", .ratio_to_library = 0.95, .ratio_to_library_tuned = 0.9});
  open();
  device->algorithms = {"fast"};
  device->workspace_bytes = 1024;
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "fast");
  void* const first = device->last_workspace;
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(launched({8, 16, 4}, stream_number(2)), "fast");
  EXPECT_NE(device->last_workspace, first);
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "fast");
  EXPECT_EQ(device->last_workspace, first);
}

TEST_F(EngineTest, AnAlgorithmThatTheLibraryDoesNotTakeFallsBackOnItsOwnChoice) {
  database.add({.size = "8,16,4", .ratio_to_library = 0.95, .ratio_to_library_tuned = 0.9});
  open();
  EXPECT_EQ(launched({8, 16, 4}), "library");
  const Answer answer = engine->answer(family, space::Size{8, 16, 4});
  EXPECT_EQ(answer.rung, Rung::library);
  EXPECT_THAT(answer.explanation,
              Contains(AllOf(HasSubstr("the library, tuned: skipped"),
                             HasSubstr("the algorithm is of another library"))));
}

TEST_F(EngineTest, ACaptureBeforeTheAlgorithmIsPreparedTakesTheLibrarysOwnChoice) {
  database.add({.size = "8,16,4", .ratio_to_library = 0.95, .ratio_to_library_tuned = 0.9});
  open();
  device->algorithms = {"fast"};
  device->capturing = {{stream_number(1), 7}};
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "library");
  device->capturing.clear();
  engine->prepare(family, std::vector<space::Size>{{8, 16, 4}});
  device->capturing = {{stream_number(1), 7}};
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "fast");
}

TEST_F(EngineTest, AStaleEntryAnswersOnlyWhereThatIsAllowed) {
  database.environment().driver = "570";
  database.add({.size = "8,16,4"});
  open();
  EXPECT_EQ(engine->answer(family, space::Size{8, 16, 4}).rung, Rung::stale);
  open(StalePolicy::refuse);
  EXPECT_EQ(engine->answer(family, space::Size{8, 16, 4}).rung, Rung::library);
}

TEST_F(EngineTest, AnotherDevicesEntriesNeverAnswer) {
  database.device().name = "NVIDIA A100";
  database.add({.size = "8,16,4"});
  open();
  EXPECT_EQ(engine->answer(family, space::Size{8, 16, 4}).rung, Rung::library);
  EXPECT_EQ(launched({8, 16, 4}), "library");
}

TEST_F(EngineTest, WhatCannotBeCompiledFallsToTheNextRungAndIsNotTriedAgain) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  device->fails_to_compile = {"rows<2,4>"};
  EXPECT_EQ(launched({8, 16, 4}), "library");
  EXPECT_EQ(launched({8, 16, 4}), "library");
  EXPECT_EQ(device->compilations, 1);
  EXPECT_THAT(engine->answer(family, space::Size{8, 16, 4}).explanation,
              Contains(AllOf(HasSubstr("skipped"), HasSubstr("line 1: a mistake"))));
}

TEST_F(EngineTest, WhatCannotBeLaunchedFallsToTheNextRungForGood) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  device->fails_to_launch = {"rows<2,4>"};
  EXPECT_EQ(launched({8, 16, 4}), "library");
  const int tries = device->launches;
  EXPECT_EQ(launched({8, 16, 4}), "library");
  EXPECT_EQ(device->launches, tries);
  engine->reload(Table::database(database.path()));
  EXPECT_EQ(launched({8, 16, 4}), "library") << "a table read again does not make it right";
  EXPECT_EQ(device->launches, tries);
}

TEST_F(EngineTest, EveryStepTakesItsOwnArguments) {
  database.add({.size = "8,16,4"});
  database.add(squares("16"));
  open();
  std::array<float, 16> x{};
  const std::array<DispatchArgument, 3> arguments = {0.5F, x.data(), data};
  device->last = {};
  engine->launch(engine->family("squares"), space::Size{16}, arguments, nullptr);
  EXPECT_EQ(device->launches, 2);
  EXPECT_EQ(device->last.entry, "total");
  ASSERT_EQ(device->last.arguments, 4U);
  EXPECT_EQ(device->last.values[0], reinterpret_cast<std::uintptr_t>(data));
  EXPECT_EQ(device->last.values[2], 8U) << "the number of parts, by value";
}

TEST_F(EngineTest, WhatEndedHalfwayIsNotRepeatedByAnotherKernel) {
  database.add({.size = "8,16,4"});
  database.add(squares("16"));
  open();
  device->fails_to_launch = {"total"};
  std::array<float, 16> x{};
  const std::array<DispatchArgument, 3> arguments = {0.5F, x.data(), data};
  const FamilyId asked = engine->family("squares");
  EXPECT_THAT(
      [&] { engine->launch(asked, space::Size{16}, arguments, nullptr); },
      ThrowsMessage<DispatchError>(HasSubstr(
          "squares at 16: a kernel of several launches failed before its last launch: steps[1]: "
          "too many resources")));
  EXPECT_EQ(device->launches, 2);
  device->fails_to_launch.clear();
  engine->launch(asked, space::Size{16}, arguments, nullptr);
  EXPECT_EQ(engine->answer(asked, space::Size{16}).rung, Rung::default_config);
}

TEST_F(EngineTest, ALostDeviceIsSaidAndHeldAgainstNoConfiguration) {
  database.add({.size = "8,16,4"});
  open();
  device->device_is_lost = true;
  EXPECT_THAT(error_of({8, 16, 4}), HasSubstr("the device failed"));
  device->device_is_lost = false;
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
}

TEST_F(EngineTest, AnUnusableStreamIsHeldAgainstNoConfiguration) {
  database.add({.size = "8,16,4"});
  open();
  EXPECT_THAT(error_of({8, 16, 4}, device->unusable), HasSubstr("the stream cannot be used"));
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
}

TEST_F(EngineTest, ATensorMapIsMadeOfTheBufferOfEachLaunch) {
  database.add({.size = "8,8,8", .kernel = "boxes", .config = R"({"BOX":8})"});
  open();
  EXPECT_EQ(launched({8, 8, 8}), "boxes<8>");
  ASSERT_EQ(device->last.arguments, 9U);
  EXPECT_EQ(device->last.values[8], reinterpret_cast<std::uintptr_t>(data)) << "where it begins";
  const auto another = std::make_unique<float[]>(64);
  const std::array<DispatchArgument, 5> arguments = {2.0F, data, another.get(), 1.0F, data};
  engine->launch(family, space::Size{8, 8, 8}, arguments, nullptr);
  EXPECT_EQ(device->last.values[8], reinterpret_cast<std::uintptr_t>(another.get()));
}

TEST_F(EngineTest, ATensorMapIsMadeOnceForTheSameBuffer) {
  database.add({.size = "8,8,8", .kernel = "boxes", .config = R"({"BOX":8})"});
  database.add({.size = "8,16,8", .kernel = "boxes", .config = R"({"BOX":8})"});
  open();
  EXPECT_EQ(launched({8, 8, 8}), "boxes<8>");
  EXPECT_EQ(launched({8, 8, 8}), "boxes<8>");
  EXPECT_EQ(device->maps_made, 1);
  EXPECT_EQ(device->last.values[8], reinterpret_cast<std::uintptr_t>(data));
  EXPECT_EQ(launched({8, 16, 8}), "boxes<8>");
  EXPECT_EQ(device->maps_made, 2) << "another size has another tensor";
  EXPECT_EQ(launched({8, 8, 8}), "boxes<8>");
  EXPECT_EQ(device->maps_made, 2);
}

TEST_F(EngineTest, WithoutMemoryForScratchTheLibraryRunsMeanwhile) {
  database.add({.size = "8,16,4", .kernel = "split", .config = R"({"PARTS":4})"});
  open();
  const auto prepared = engine->prepare(family, std::vector<space::Size>{{8, 16, 4}});
  ASSERT_THAT(prepared.front().error, IsEmpty());
  device->has_memory = false;
  EXPECT_EQ(launched({8, 16, 4}), "library");
  device->has_memory = true;
  EXPECT_THAT(launched({8, 16, 4}), StartsWith("split"));
}

TEST_F(EngineTest, MemoryThatIsShortIsHeldAgainstNoConfiguration) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  device->has_memory_to_load = false;
  EXPECT_EQ(launched({8, 16, 4}), "library");
  device->has_memory_to_load = true;
  engine->reload(Table::database(database.path()));
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
}

TEST_F(EngineTest, ACaptureCompilesLoadsAndAllocatesNothing) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  device->capturing = {{stream_number(1), 7}};
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "library") << "it was not prepared";
  EXPECT_FALSE(engine->answer(family, space::Size{8, 16, 4}).prepared);
  device->capturing.clear();
  engine->prepare(family, std::vector<space::Size>{{8, 16, 4}});
  device->capturing = {{stream_number(1), 7}};
  EXPECT_EQ(launched({8, 16, 4}, stream_number(1)), "rows<2,4>");
  EXPECT_EQ(launched({4, 16, 4}, stream_number(1)), "rows<2,4>") << "it happens to be loaded";
  EXPECT_EQ(device->forbidden_calls, 0);
  EXPECT_EQ(device->compilations, 1);
}

TEST_F(EngineTest, PreparesWhatCanBeAndSaysOfTheRestWhy) {
  database.add({.size = "8,16,4"});
  open();
  const auto results = engine->prepare(
      family, std::vector<space::Size>{{8, 16, 4}, {8, 16}, {8, 16, 4, 3}, {6, 6, 6}});
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].answer->rung, Rung::exact);
  EXPECT_THAT(results[1].error, HasSubstr("a size of product has 3 to 4 numbers (M, N, K, ALIGN)"));
  EXPECT_THAT(results[2].error, HasSubstr("8,16,4,3 cannot be a size of product: ALIGN = 3"));
  EXPECT_EQ(results[3].answer->rung, Rung::nearest);
}

TEST_F(EngineTest, RefusesArgumentsThatAreNotTheFamilys) {
  database.add({.size = "8,16,4"});
  open();
  const std::array<DispatchArgument, 5> wrong = {2.0, data, data, 1.0F, data};
  try {
    engine->launch(family, space::Size{8, 16, 4}, wrong, nullptr);
    FAIL();
  } catch (const DispatchError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("(float alpha, pointer A, pointer B, float beta, pointer C)"),
                      HasSubstr("(double, pointer, pointer, float, pointer)")));
  }
}

TEST_F(EngineTest, KnowsItsFamiliesAndGuessesWhichWasMeant) {
  database.add({.size = "8,16,4"});
  open();
  EXPECT_EQ(engine->find_family("none"), std::nullopt);
  try {
    static_cast<void>(engine->family("produkt"));
    FAIL();
  } catch (const DispatchError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'product'?"));
  }
}

TEST_F(EngineTest, ReloadTakesWhatWasTunedSince) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  EXPECT_EQ(launched({16, 16, 4}), "rows<2,4>");
  database.add({.size = "16,16,4", .config = R"({"TILE":4})"});
  engine->reload(Table::database(database.path()));
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>");
  EXPECT_THROW(engine->reload(Table::database(cache.path() / "none.db")), Error);
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>") << "the old table stays in use";
}

TEST_F(EngineTest, AnExportedTableAnswersAsItsDatabase) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  database.add({.size = "16,16,4", .config = R"({"TILE":4})"});
  open();
  const store::Store store(database.path(), store::Store::Mode::read_only);
  const std::string text = select::catalogue_json(select::catalogue(store, {}));
  engine->reload(Table::text(text));
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
  EXPECT_EQ(engine->answer(family, space::Size{8, 16, 4}).rung, Rung::exact);
  write_file(cache.path() / "table.json", text);
  engine->reload(Table::file(cache.path() / "table.json"));
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>");
  EXPECT_THROW(engine->reload(Table::text("{}")), Error);
}

TEST_F(EngineTest, ATableOfAnotherArchitectureServesByTheLibrary) {
  database.add({.size = "8,16,4", .config = R"({"TILE":2})"});
  open();
  const store::Store store(database.path(), store::Store::Mode::read_only);
  select::Catalogue known = select::catalogue(store, {});
  const std::string own = known.device.architecture;
  known.device.architecture = "sm_00";
  engine->reload(Table::text(select::catalogue_json(known)));
  EXPECT_EQ(launched({8, 16, 4}), "library");
  EXPECT_THAT(engine->answer(family, space::Size{8, 16, 4}).explanation,
              Contains(AllOf(HasSubstr("the table is of"), HasSubstr("(sm_00), this is"),
                             HasSubstr("(" + own + ")"))));
}

TEST_F(EngineTest, DisabledItLeavesOutWhatWasTuned) {
  settings.tuned = TunedKernels::ignored;
  database.add({.size = "8,16,4"});
  open();
  EXPECT_EQ(launched({8, 16, 4}), "library");
}

TEST_F(EngineTest, RecordsTheSizesThatAreAskedFor) {
  settings.record = cache.path() / "sizes.json";
  database.add({.size = "8,16,4"});
  open();
  launch({8, 16, 4});
  launch({5, 6, 7});
  launch({5, 6, 7});
  EXPECT_THAT(read_file(settings.record, 10000),
              AllOf(HasSubstr("[8,16,4]"), HasSubstr("[5,6,7]")));
}

TEST_F(EngineTest, SaysHowToUseResultsThatCameWithoutTheirSources) {
  database.add({.size = "8,16,4", .family = "other"});
  database.import_without_sources({.size = "8,16,4"}, "seed.jsonl");
  settings.log = LogLevel::warn;
  const auto said = AllOf(HasSubstr("rows (1 size on NVIDIA H200, from seed.jsonl)"),
                          HasSubstr("`tune merge"), HasSubstr("`tune export --format json`"));
  testing::internal::CaptureStderr();
  family = FamilyId{};
  try {
    open();
    FAIL() << "no kernel of the family can run";
  } catch (const DispatchError& error) {
    EXPECT_THAT(error.what(), said);
  }
  EXPECT_THAT(testing::internal::GetCapturedStderr(), said);
}

TEST_F(EngineTest, SaysOnceWhatWasNeverTuned) {
  settings.log = LogLevel::info;
  database.add({.size = "8,16,4"});
  database.add({.size = "16,16,4", .ratio_to_library = 0.5});
  open();
  testing::internal::CaptureStderr();
  launch({8, 16, 4});
  launch({16, 16, 4});
  launch({6, 16, 4});
  launch({6, 16, 4});
  engine->reload(Table::database(database.path()));
  launch({6, 16, 4});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_THAT(said, AllOf(HasSubstr("product 6,16,4 was not tuned on NVIDIA H200: library runs."),
                          HasSubstr("--size 6,16,4")));
}

}  // namespace
}  // namespace tuner::dispatch
