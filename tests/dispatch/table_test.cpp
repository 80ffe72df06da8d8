// SPDX-License-Identifier: Apache-2.0
// Tables of others: what is refused, and what is not taken at all.
#include "tests/dispatch/fake_executor.hpp"
#include "tests/dispatch/product_family.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/dispatch/engine.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <sys/stat.h>

namespace tuner::dispatch {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TableTest : public testing::Test {
 protected:
  TableTest() : database(FakeExecutor().device(), FakeExecutor().environment()) {}

  void open(const Table& table) {
    DispatchOptions options;
    options.cache = folder.path() / "binaries";
    engine = std::make_unique<Engine>(std::make_unique<FakeExecutor>(), table, options,
                                      DispatchSettings{.log = LogLevel::off});
  }
  [[nodiscard]] std::string refusal(const Table& table) {
    try {
      open(table);
      if (engine->find_family("product")) {
        static_cast<void>(engine->answer(engine->family("product"), Size{8, 16, 4}));
      }
      return "none";
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  /// What `tune export --format json` writes.
  [[nodiscard]] std::string exported() const {
    const store::Store store(database.path(), store::Store::Mode::read_only);
    return select::catalogue_json(select::catalogue(store, {}));
  }
  /// With a checksum that fits, as anybody can write it.
  [[nodiscard]] static std::string with_checksum(std::string text) {
    const std::size_t rest = text.find('\n') + 1;
    const std::size_t checksum = text.find("\"checksum\":\"") + 12;
    return text.replace(checksum, 32, content_hash({std::string_view(text).substr(rest)}));
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    EXPECT_THAT(text, HasSubstr(from));
    return text.replace(text.find(from), from.size(), to);
  }

  TemporaryDirectory folder;
  TunedDatabase database;
  std::unique_ptr<Engine> engine;
};

TEST_F(TableTest, ATableAsItWasExportedIsTaken) {
  database.add({.size = "8,16,4"});
  EXPECT_EQ(refusal(Table::text(exported())), "none");
  EXPECT_TRUE(engine->find_family("product"));
  EXPECT_EQ(with_checksum(exported()), exported());
}

TEST_F(TableTest, OtherCodeUnderAKnownHashIsRefusedByTheKernelsName) {
  database.add({.size = "8,16,4"});
  const std::string forged = replaced(exported(), "float sum = 0;", "steal();");
  for (const std::string& text : {forged, with_checksum(forged)}) {
    EXPECT_THAT(
        refusal(Table::text(text)),
        AllOf(HasSubstr("kernel \"rows\" of family \"product\""), HasSubstr("not what was tuned")));
  }
}

TEST_F(TableTest, ATypeThatThisBuildDoesNotKnowIsNamed) {
  database.add({.size = "8,16,4"});
  const std::string unknown = replaced(exported(), "float*", "fp4*");
  EXPECT_THAT(refusal(Table::text(with_checksum(unknown))),
              AllOf(HasSubstr("product"), HasSubstr("unknown type \"fp4\"")));
}

TEST_F(TableTest, SoItIsInADatabaseAndInWhatIsKeptOfOne) {
  database.add({.size = "8,16,4", .hash = std::string(64, 'a')});
  for (const char* opened : {"once", "again"}) {
    EXPECT_THAT(refusal(Table::database(database.path())), HasSubstr("not what was tuned"))
        << opened;
  }
}

TEST_F(TableTest, AKernelThatStandsTwiceIsRefused) {
  database.add({.size = "8,16,4"});
  std::string text = exported();
  const std::size_t begin = text.find("\n{") + 1, end = text.find("\n]}");
  text.insert(end, ",\n" + text.substr(begin, end - begin));
  EXPECT_THAT(refusal(Table::text(with_checksum(text))), HasSubstr("rows of product twice"));
}

TEST_F(TableTest, NestingThatWouldOverflowTheStackIsRefused) {
  database.add({.size = "8,16,4"});
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  const std::string text =
      replaced(exported(), "\"environments\":", fmt::format("\"deep\":{},\"environments\":", deep));
  for (const std::string& each : {text, with_checksum(text)}) {
    EXPECT_THAT(refusal(Table::text(each)), HasSubstr("nested deeper than 32 levels"));
  }
}

TEST_F(TableTest, AFileThatOthersMayWriteIsRefused) {
  database.add({.size = "8,16,4"});
  const auto file = folder.path() / "table.json";
  write_file(file, exported());
  EXPECT_EQ(refusal(Table::file(file)), "none");
  ASSERT_EQ(::chmod(file.c_str(), 0666), 0);
  EXPECT_THAT(refusal(Table::file(file)),
              AllOf(HasSubstr("other users may write to the file"), HasSubstr("Table::text()"),
                    Not(HasSubstr("--trust-db"))));
}

/// A cloned repository may hold one.
TEST_F(TableTest, ADatabaseInTheWorkingDirectoryIsNotOpened) {
  database.add({.size = "8,16,4"});
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(database.path().parent_path());
  ASSERT_TRUE(std::filesystem::exists("tune.db"));
  ::unsetenv("TUNER_DB");
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  const std::string why = refusal(Table::database());
  ::setenv("XDG_DATA_HOME", ".", 1);  // a relative one would lead there too
  ::setenv("HOME", folder.path().c_str(), 1);
  const std::string with_relative = refusal(Table::database());
  std::filesystem::current_path(before);
  EXPECT_THAT(why, HasSubstr("no database at " + (folder.path() / "tune/tune.db").string()));
  EXPECT_THAT(with_relative, HasSubstr((folder.path() / ".local/share/tune/tune.db").string()));
}

}  // namespace
}  // namespace tuner::dispatch
