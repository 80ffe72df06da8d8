// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/pins.hpp"

#include "tests/dispatch/cpu_fixture.hpp"
#include "tests/dispatch/engine_fixture.hpp"

#include <cstdlib>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

/// A size that was measured, and a process that pins it.
class PinsTest : public EngineTest {
 protected:
  PinsTest() {
    database.add_all({{.size = "8,16,4", .config = R"({"TILE":2})"},
                      {.size = "64,16,4", .config = R"({"TILE":4})"}});
    open();
    device->algorithms = {"lt/1"};
    device->time_ns = {{"rows<2,4>", 500}, {"rows<4,4>", 200}, {"library", 300}, {"lt/1", 250}};
  }

  void measure(const Size& size) {
    static_cast<void>(engine->prepare(family, {{size}}, ChooseBy::measurement));
  }
  void pin() { engine->pin(file); }
  void open_pinned() {
    settings.mode = DispatchMode::pinned;
    settings.pins = file;
    open();
  }
  [[nodiscard]] std::string opening() {
    try {
      open_pinned();
      return "no error";
    } catch (const DispatchError& error) {
      return error.what();
    }
  }

  std::filesystem::path file = cache.path() / "pins.json";
};

TEST_F(PinsTest, AnotherProcessServesASizeAlikeWhateverWasTunedSince) {
  measure({16, 16, 4});
  pin();
  database.add({.size = "16,16,4", .config = R"({"TILE":8})"});
  open();
  ASSERT_EQ(launched({16, 16, 4}), "rows<8,4>");
  open_pinned();
  const Answer answer = engine->answer(family, Size{16, 16, 4});
  EXPECT_EQ(answer.configuration, R"({"TILE":4})");
  EXPECT_EQ(answer.rung, Rung::nearest) << "as it was when it was pinned";
  EXPECT_THAT(answer.explanation, Contains("pinned by " + file.string()));
  measure({16, 16, 4});
  EXPECT_EQ(device->launches, 0) << "nothing is measured";
  EXPECT_EQ(launched({16, 16, 4}), "rows<4,4>");
  EXPECT_TRUE(engine->served().front().is_tuned);
}

TEST_F(PinsTest, AnAlgorithmOfTheLibraryIsPinnedToo) {
  device->time_ns["lt/1"] = 100;
  measure({16, 16, 4});
  pin();
  open_pinned();
  device->algorithms = {"lt/1"};
  EXPECT_EQ(launched({16, 16, 4}), "lt/1");
  open_pinned();
  EXPECT_THAT(error_of({16, 16, 4}), AllOf(HasSubstr("pins for product 16,16,4 cannot be used"),
                                           HasSubstr("the algorithm is of another library")));
}

TEST_F(PinsTest, OtherSizesAreTheLibrarysAndCountAsSuch) {
  measure({16, 16, 4});
  pin();
  open_pinned();
  EXPECT_EQ(launched({8, 16, 4}), "library") << "though it was tuned";
  ASSERT_EQ(engine->served().size(), 1U);
  EXPECT_FALSE(engine->served().front().is_tuned);
}

TEST_F(PinsTest, WhatCannotBeUsedIsAnErrorAndNeverAnother) {
  measure({16, 16, 4});
  pin();
  open_pinned();
  device->fails_to_load = {"rows<4,4>"};
  EXPECT_THAT(error_of({16, 16, 4}), AllOf(HasSubstr("pins for product 16,16,4 cannot be used"),
                                           HasSubstr("no image of this device")));
  open_pinned();
  device->fails_to_launch = {"rows<4,4>"};
  EXPECT_THAT(error_of({16, 16, 4}), HasSubstr("too many resources"));
  open_pinned();
  device->has_memory_to_load = false;
  EXPECT_THAT(error_of({16, 16, 4}), HasSubstr("out of memory"));
}

TEST_F(PinsTest, AKernelWhoseCodeHasChangedIsNotTaken) {
  measure({16, 16, 4});
  pin();
  database.add({.size = "8,16,4", .source = std::string(kProductSource) + "__device__ int more;"});
  open_pinned();
  EXPECT_THAT(error_of({16, 16, 4}), HasSubstr("the code of rows has changed: its hash was"));
}

TEST_F(PinsTest, AFileOfAnotherLibraryOrDeviceIsRefusedAsAreOtherFiles) {
  measure({16, 16, 4});
  pin();
  std::string text = read_file(file, 100000);
  const std::size_t version = text.find("cuBLAS 13");
  ASSERT_NE(version, std::string::npos);
  write_file(file, std::string(text).replace(version, 9, "cuBLAS 12"));
  EXPECT_THAT(opening(), HasSubstr("its library is 'cuBLAS 12', in use is 'cuBLAS 13'"));
  for (const char* wrong : {"", "{}", "[]", R"({"format": "pins/2"})", R"({"format": "pins/1"})"}) {
    write_file(file, wrong);
    EXPECT_THAT(opening(), AllOf(HasSubstr(file.string()), HasSubstr("Dispatcher::pin()")));
  }
  file = cache.path() / "none.json";
  EXPECT_THAT(opening(), HasSubstr("none.json"));
}

/// On the cpu backend.
class CpuPinsTest : public CpuFixture {};

TEST_F(CpuPinsTest, AnApplicationPinsByItsOptionsOrItsEnvironment) {
  database.add({.size = "8,6,5", .config = R"({"TILE":2})"});
  const std::filesystem::path file = folder.path() / "pins.json";
  {
    Dispatcher dispatcher(Table::database(database.path()), options);
    const auto done = dispatcher.prepare(dispatcher.family("product"), {{{12, 6, 5}}});
    ASSERT_EQ(done.front().answer.value().rung, Rung::nearest);
    dispatcher.pin(file);
  }
  database.add({.size = "12,6,5", .config = R"({"TILE":4})"});
  options.mode = DispatchMode::pinned;
  EXPECT_THROW(Dispatcher(Table::database(database.path()), options), DispatchError);
  options.pins = file;
  Dispatcher pinned(Table::database(database.path()), options);
  const auto choice = [](const Dispatcher& it) {
    return it.answer(it.family("product"), Size{12, 6, 5}).configuration;
  };
  EXPECT_EQ(choice(pinned), R"({"TILE":2})");
  options.mode = DispatchMode::any;
  options.pins.clear();
  ::setenv("TUNER_PINS", file.c_str(), 1);
  Dispatcher by_environment(Table::database(database.path()), options);
  ::unsetenv("TUNER_PINS");
  EXPECT_EQ(choice(by_environment), R"({"TILE":2})");
}

}  // namespace
}  // namespace tuner::dispatch
