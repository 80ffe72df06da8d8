// SPDX-License-Identifier: Apache-2.0
// What an application may do by mistake ends with an error that says so.
#include "tests/dispatch/cpu_fixture.hpp"
#include "tests/dispatch/product_family.hpp"
#include "tuner/dispatch/dispatch.h"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/gemm.hpp"
#include "tuner/select/catalogue_json.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstring>
#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
    return "no error";
  } catch (const DispatchError& error) {
    return error.what();
  }
}

class MisuseTest : public CpuFixture {
 protected:
  MisuseTest() { database.add({.size = "8,6,5", .config = R"({"TILE":2})"}); }
  [[nodiscard]] Dispatcher open() const {
    return Dispatcher(Table::database(database.path()), options);
  }
  void launch(Dispatcher& dispatcher) {
    dispatcher.launch(dispatcher.family("product"), Size{8, 6, 5}, arguments);
  }

  alignas(16) std::array<float, 64> data = {};
  std::array<DispatchArgument, 5> arguments = {1.0F, data.data(), data.data(), 0.0F, data.data()};
};

TEST_F(MisuseTest, ANullPointerIsNamed) {
  Dispatcher dispatcher = open();
  arguments[2] = nullptr;
  EXPECT_EQ(error_of([&] { launch(dispatcher); }), "product at 8,6,5: B is a null pointer");
  arguments[2] = data.data();
  launch(dispatcher);
  arguments[4] = nullptr;
  EXPECT_EQ(error_of([&] { launch(dispatcher); }), "product at 8,6,5: C is a null pointer");
}

TEST_F(MisuseTest, ANullMatrixIsNamed) {
  Dispatcher dispatcher(Table::none(), options);
  const auto multiply = [&](std::int64_t m, std::int64_t k, const float* a, float* c) {
    return error_of([&] {
      sgemm(dispatcher, nullptr, Transpose::no, Transpose::no, m, 2, k, 1, a, 2, data.data(), 2, 0,
            c, 2);
    });
  };
  EXPECT_EQ(multiply(2, 2, nullptr, data.data()), "sgemm 2x2x2: a is a null pointer");
  EXPECT_EQ(multiply(2, 2, data.data(), nullptr), "sgemm 2x2x2: c is a null pointer");
  EXPECT_EQ(multiply(2, 0, nullptr, data.data()), "no error") << "nothing of it is read";
  EXPECT_EQ(multiply(0, 2, nullptr, nullptr), "no error") << "there is nothing to do";
}

TEST_F(MisuseTest, AWayToTransposeThatThereIsNotIsRefused) {
  Dispatcher dispatcher(Table::none(), options);
  EXPECT_THAT(error_of([&] {
                sgemm(dispatcher, nullptr, Transpose::no, static_cast<Transpose>(7), 2, 2, 2, 1,
                      data.data(), 2, data.data(), 2, 0, data.data(), 2);
              }),
              HasSubstr("trans_b is 7"));
}

TEST_F(MisuseTest, ADispatcherThatWasMovedFromSaysSo) {
  Dispatcher first = open();
  Dispatcher second = std::move(first);
  const auto moved_from = HasSubstr("moved from");
  // NOLINTBEGIN(bugprone-use-after-move): what is tested
  EXPECT_THAT(error_of([&] { launch(first); }), moved_from);
  EXPECT_THAT(error_of([&] {
                static_cast<void>(first.answer(FamilyId{}, Size{8, 6, 5}));
              }),
              moved_from);
  EXPECT_THAT(error_of([&] { static_cast<void>(first.prepare(FamilyId{}, {})); }), moved_from);
  EXPECT_THAT(error_of([&] { static_cast<void>(first.find_family("product")); }), moved_from);
  EXPECT_THAT(error_of([&] { first.reload(Table::none()); }), moved_from);
  EXPECT_THAT(error_of([&] {
                sgemm(first, nullptr, Transpose::no, Transpose::no, 2, 2, 2, 1, data.data(), 2,
                      data.data(), 2, 0, data.data(), 2);
              }),
              moved_from);
  EXPECT_EQ(error_of([&] { launch(second); }), "no error");
  Table table = Table::none();
  const Table taken = std::move(table);
  EXPECT_THAT(error_of([&] { second.reload(table); }), moved_from);
  EXPECT_THAT(error_of([&] { Dispatcher(table, options); }), moved_from);
  // NOLINTEND(bugprone-use-after-move)
}

/// How a child that was forked now ends, which has 20 s for it.
int exit_of_child(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(work() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(MisuseTest, InAForkedChildItIsAnErrorAndClosesWithoutAWait) {
  auto dispatcher = std::make_unique<Dispatcher>(open());
  launch(*dispatcher);
  EXPECT_EQ(exit_of_child([&] {
              const std::string said = error_of([&] { launch(*dispatcher); });
              dispatcher.reset();
              Dispatcher own = open();
              launch(own);
              return said.find("forked") != std::string::npos;
            }),
            0);
  EXPECT_EQ(error_of([&] { launch(*dispatcher); }), "no error") << "in the parent all goes on";
}

TEST_F(MisuseTest, InAForkedChildTheInterfaceForCFails) {
  const std::string path = database.path().string(), cache = options.cache.string();
  tuner_options of_c{};
  of_c.struct_size = sizeof of_c;
  of_c.backend = "cpu";
  of_c.cache = cache.c_str();
  tuner_dispatcher* dispatcher = nullptr;
  ASSERT_EQ(tuner_open({TUNER_TABLE_DATABASE, path.c_str()}, &of_c, &dispatcher), TUNER_OK);
  EXPECT_EQ(exit_of_child([&] {
              std::uint32_t family = 0;
              const auto status = tuner_find_family(dispatcher, "product", &family);
              const bool is_said =
                  std::string(tuner_last_error()).find("forked") != std::string::npos;
              tuner_close(dispatcher);
              return status == TUNER_FAILED && is_said;
            }),
            0);
  tuner_transpose transpose = {};
  const int seven = 7;  // as a program in C may pass it
  std::memcpy(&transpose, &seven, sizeof transpose);
  EXPECT_EQ(tuner_sgemm(dispatcher, nullptr, transpose, TUNER_NO_TRANSPOSE, 2, 2, 2, 1, data.data(),
                        2, data.data(), 2, 0, data.data(), 2),
            TUNER_FAILED);
  EXPECT_THAT(tuner_last_error(), HasSubstr("7"));
  tuner_close(dispatcher);
}

/// What an application says to whoever runs it: he has no command line.
TEST_F(MisuseTest, WhatIsSaidOfADatabaseAdvisesNoOptionsOfTheProgram) {
  const auto opened = [&](const std::filesystem::path& path) {
    return error_of([&] { Dispatcher(Table::database(path), options); });
  };
  const auto empty = folder.path() / "empty.db";
  const auto other = folder.path() / "other.db";
  const auto everybodys = folder.path() / "everybodys.db";
  write_file(empty, "");
  write_file(other, std::string(5000, 'x'));
  std::filesystem::copy(database.path(), everybodys);
  ASSERT_EQ(::chmod(everybodys.c_str(), 0666), 0);
  for (const auto& path : {folder.path() / "none.db", folder.path(), empty, other, everybodys}) {
    EXPECT_THAT(opened(path), AllOf(HasSubstr(path.filename().string()), Not(HasSubstr("--")),
                                    Not(HasSubstr("no error"))));
  }
  EXPECT_THAT(opened(other), HasSubstr("name another file in Table::database()"));
}

TEST_F(MisuseTest, WhatIsSaidOfADamagedTableNamesNothingInsideTheLibrary) {
  const std::string good = select::catalogue_json(
      select::catalogue(store::Store(database.path(), store::Store::Mode::read_only), {}));
  std::vector<std::string> damaged = {"{}", "{\"format\": 3}", "[]"};
  for (const std::string word : {"headers", "kernels", "arguments", "space", "dims"}) {
    std::string& table = damaged.emplace_back(good);
    table.replace(table.find(word), word.size(), "xxx");
  }
  for (const std::string& table : damaged) {
    const std::string said = error_of([&] {
      Dispatcher dispatcher(Table::text(table), options);
      launch(dispatcher);
    });
    EXPECT_THAT(said, AllOf(Not(HasSubstr("no error")), Not(HasSubstr("exception"))));
  }
}

}  // namespace
}  // namespace tuner::dispatch
