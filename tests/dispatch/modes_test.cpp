// SPDX-License-Identifier: Apache-2.0
// What may serve a size, and what did.
#include "tests/dispatch/cpu_fixture.hpp"
#include "tests/dispatch/engine_fixture.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <cstdlib>
#include <thread>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ModesTest : public EngineTest {
 protected:
  ModesTest() { database.add({.size = "8,16,4", .config = R"({"TILE":2})"}); }
};

MATCHER_P4(Is, rung, is_tuned, sizes, launches, "") {
  return arg.family == "product" && arg.rung == rung && arg.is_tuned == is_tuned &&
         arg.sizes == std::uint64_t{sizes} && arg.launches == std::uint64_t{launches};
}

TEST_F(ModesTest, ExactTakesWhatWasTunedForTheSizeAndElseTheLibrary) {
  settings.mode = DispatchMode::exact;
  open();
  EXPECT_EQ(launched({8, 16, 4}), "rows<2,4>");
  EXPECT_EQ(launched({24, 16, 4}), "library") << "where rows<2,4> would be the nearest";
  device->launches = 0;
  const auto done = engine->prepare(family, {{{32, 16, 4}}}, ChooseBy::measurement);
  EXPECT_EQ(done.front().answer.value().rung, Rung::library);
  EXPECT_EQ(device->launches, 0) << "nothing is measured";
  settings.mode = DispatchMode::any;
  open();
  EXPECT_EQ(launched({24, 16, 4}), "rows<2,4>");
}

TEST_F(ModesTest, LaunchesAreCountedByWhatServedThem) {
  open();
  EXPECT_THAT(engine->served(), IsEmpty());
  for (int i = 0; i < 5; ++i) launch({8, 16, 4});
  EXPECT_THAT(engine->served(), ElementsAre(Is(Rung::exact, true, 1U, 5U)));
  launch({24, 16, 4});
  launch({40, 16, 4});
  EXPECT_THAT(engine->served(),
              ElementsAre(Is(Rung::exact, true, 1U, 5U), Is(Rung::nearest, false, 2U, 2U)));
  launch({8, 16, 4}, nullptr, data + 1);
  EXPECT_THAT(engine->served().front(), Is(Rung::exact, true, 1U, 5U))
      << "less aligned, another size serves it";
}

TEST_F(ModesTest, WhereTheLibraryWasTheFastestTheSizeIsTunedAllTheSame) {
  database.add({.size = "16,16,4", .ratio_to_library = 0.5});
  open();
  launch({16, 16, 4});
  EXPECT_THAT(engine->served(), ElementsAre(Is(Rung::library, true, 1U, 1U)));
  launch({24, 16, 4});
  EXPECT_THAT(engine->served(),
              ElementsAre(Is(Rung::library, true, 1U, 1U), Is(Rung::library, false, 1U, 1U)));
}

TEST_F(ModesTest, ThreadsLoseNoCount) {
  open();
  launch({8, 16, 4});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([this] {
        for (int j = 0; j < 500; ++j) launch({8, 16, 4});
      });
    }
  }
  EXPECT_THAT(engine->served(), ElementsAre(Is(Rung::exact, true, 1U, 4001U)));
}

/// On the cpu backend, with the options and the environment of an application.
class CpuModesTest : public CpuFixture {};

TEST_F(CpuModesTest, ExactIsAnErrorWhereNothingButAnotherSizesKernelIsLeft) {
  const std::string space = std::string(kProductSpace);
  const std::size_t check = space.find(R"("reference": {"op")");
  const std::size_t end = space.find("},", check);
  database.add({.size = "8,6,5",
                .space = space.substr(0, check) + R"("reference": {"kernel": "split"})" +
                         space.substr(end + 1)});
  options.mode = DispatchMode::exact;
  Dispatcher dispatcher(Table::database(database.path()), options);
  const FamilyId family = dispatcher.family("product");
  EXPECT_EQ(dispatcher.answer(family, Size{8, 6, 5}).rung, Rung::exact);
  try {
    static_cast<void>(dispatcher.answer(family, Size{12, 6, 5}));
    FAIL();
  } catch (const DispatchError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("nothing can run for product at 12,6,5"),
                                    HasSubstr("DispatchMode::exact")));
  }
}

TEST_F(CpuModesTest, TheEnvironmentStandsBeforeTheOptions) {
  database.add({.size = "8,6,5", .config = R"({"TILE":2})"});
  ::setenv("TUNER_EXACT", "1", 1);
  Dispatcher dispatcher(Table::database(database.path()), options);
  ::unsetenv("TUNER_EXACT");
  EXPECT_EQ(dispatcher.answer(dispatcher.family("product"), Size{12, 6, 5}).rung, Rung::library);
}

TEST_F(CpuModesTest, ProductsWithoutATableAreCounted) {
  Dispatcher dispatcher(Table::none(), options);
  const std::vector<float> a(6, 1), b(6, 1);
  std::vector<float> c(4);
  sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, 2, 2, 3, 1, a.data(), 3, b.data(), 2, 0,
        c.data(), 2);
  const std::vector<Served> served = dispatcher.served();
  ASSERT_EQ(served.size(), 1U);
  EXPECT_EQ(served.front().family, "gemm");
  EXPECT_EQ(served.front().rung, Rung::library);
  EXPECT_FALSE(served.front().is_tuned);
  EXPECT_EQ(served.front().launches, 1U);
}

}  // namespace
}  // namespace tuner::dispatch
