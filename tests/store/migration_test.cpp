// SPDX-License-Identifier: Apache-2.0
// Databases of every schema there has been, as they were written then, read by the program of
// today.
#include "tuner/store/migration.hpp"

#include "example_records.hpp"
#include "example_store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <tuple>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

std::string data(const std::string& name) {
  return read_file(fs::path(TUNER_TEST_DATA) / "store" / name, 1 << 24);
}

/// Every row of a database, as SQL literals, without what differs between two runs of a program.
std::string rows(const fs::path& path) {
  const SQLite::Database database(path.string());
  SQLite::Statement columns(
      database,
      "SELECT t.name, group_concat('quote(' || c.name || ')', ' || '' '' || ') "
      "FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table' "
      "AND c.name NOT IN ('started_at', 'ended_at', 'began_at', 'boot_id', 'pid_namespace', 'pid', "
      "'process_start') AND NOT (t.name = 'session' AND c.name = 'host') "
      "AND NOT (t.name = 'strike' AND c.name = 'recorded_at') "
      "AND NOT (t.name = 'portfolio' AND c.name = 'uuid') GROUP BY t.name ORDER BY t.name");
  std::string all;
  while (columns.executeStep()) {
    const std::string table = columns.getColumn(0).getString();
    SQLite::Statement found(database, fmt::format("SELECT {} FROM {} ORDER BY id",
                                                  columns.getColumn(1).getString(), table));
    while (found.executeStep())
      all += fmt::format("{} {}\n", table, found.getColumn(0).getString());
  }
  return all;
}

class MigrationTest : public testing::Test {
 protected:
  void put_schema_1() const {
    SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(data("schema-1.sql"));
  }
  void put(const std::string& name) const {
    write_file(path, data(name));
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  }

  TemporaryDirectory directory;
  fs::path path = directory.path() / "tune.sqlite";
};

TEST_F(MigrationTest, ReadsASchema1AfterBringingItUpToDate) {
  put_schema_1();
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  EXPECT_EQ(everything(Store(path, kReadOnly)), data("schema-1.txt"));
}

TEST_F(MigrationTest, KeepsACopyOfWhatItChanges) {
  put_schema_1();
  { const Store store(path, kReadWrite); }
  const fs::path copy = path.string() + ".schema-1.bak";
  EXPECT_EQ(fs::status(copy).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  SQLite::Database old(copy.string());
  EXPECT_EQ(old.execAndGet("PRAGMA user_version").getInt(), 1);
  EXPECT_EQ(old.execAndGet("SELECT count(*) FROM result").getInt(), 8);
  EXPECT_EQ(old.execAndGet("PRAGMA integrity_check").getString(), "ok");
  { const Store store(path, kReadWrite); }  // nothing to change now
  EXPECT_FALSE(fs::exists(path.string() + ".schema-10.bak"));
}

TEST_F(MigrationTest, LeavesADamagedDatabaseAsItWas) {
  put_schema_1();
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM problem WHERE id = 1");  // rows refer to it
  const std::string before = read_file(path, 1 << 24);
  EXPECT_THAT([&] { Store(path, kReadWrite); },
              ThrowsMessage<Error>(HasSubstr("refers to one that is not there")));
  EXPECT_EQ(read_file(path, 1 << 24), before);
}

TEST_F(MigrationTest, ReadsASchema2AfterBringingItUpToDate) {
  put("schema-2.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-2.txt"));
  EXPECT_THAT(store.known_trials(example_subject(), "4096,4096,4096"), IsEmpty())
      << "nobody knows what they were judged by";
  EXPECT_THAT(store.bests({}), SizeIs(2));
}

TEST_F(MigrationTest, DoesNotHideADamagedRowByRewritingIt) {
  for (const auto& [schema, table, change] :
       {std::tuple("schema-2.sqlite", "session", "strategy = 'damaged'"),
        std::tuple("schema-4.sqlite", "final", "problem_id = 2"),
        std::tuple("schema-4.sqlite", "finalist", "ratio_to_best = 2"),
        std::tuple("schema-4.sqlite", "best", "median_ns = q1_ns"),
        std::tuple("schema-6.sqlite", "result", "registers = 1"),
        std::tuple("schema-9.sqlite", "portfolio_size", "weight = 3")}) {
    put(schema);
    tamper(path, table, change);
    const std::string before = read_file(path, 1 << 24);
    EXPECT_THAT(
        [&] { Store(path, kReadWrite); },
        ThrowsMessage<Error>(HasSubstr(fmt::format("row 1 of table {} is damaged", table))));
    EXPECT_EQ(read_file(path, 1 << 24), before);
  }
}

TEST_F(MigrationTest, ReadsASchema3AfterBringingItUpToDate) {
  put("schema-3.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-3.txt"));
  EXPECT_THAT(store.known_trials(example_subject(), "4096,4096,4096"), SizeIs(8));
}

TEST_F(MigrationTest, ReadsASchema4AfterBringingItUpToDate) {
  put("schema-4.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-4.txt"));
  EXPECT_THAT(store.cards(1), SizeIs(1));
}

TEST_F(MigrationTest, WhatEarlierVersionsStoredAsBestOfAnInterruptedRunIsNone) {
  put("schema-4.sqlite");
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM finalist WHERE final_id IN (SELECT id FROM final WHERE session_id = 2)");
  Store store(path, kReadWrite);
  const auto bests = store.bests({});
  ASSERT_THAT(bests, SizeIs(1));
  EXPECT_EQ(bests.front().best.run_uuid, "aaaa-0001");
  EXPECT_THAT(store.trials(2), SizeIs(8)) << "its trials stay";
}

TEST_F(MigrationTest, ReadsASchema5AfterBringingItUpToDate) {
  put("schema-5.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-5.txt"));
  EXPECT_EQ(store.bests({}).front().best.library_algorithm, "host/1/loops");
}

TEST_F(MigrationTest, ReadsASchema6AfterBringingItUpToDate) {
  put("schema-6.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-6.txt"));
  EXPECT_EQ(store.bests({}).front().best.joules, 0.25);
}

TEST_F(MigrationTest, ReadsASchema7AfterBringingItUpToDate) {
  put("schema-7.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-7.txt"));
  EXPECT_EQ(store.trials(2).front().trial.series_ns, 905.5);
}

TEST_F(MigrationTest, ReadsASchema8AfterBringingItUpToDate) {
  put("schema-8.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-8.txt"));
  EXPECT_THAT(store.portfolios(example_subject().device), SizeIs(1));
}

TEST_F(MigrationTest, ReadsASchema9AfterBringingItUpToDate) {
  put("schema-9.sqlite");
  EXPECT_THAT([&] { Store(path, kReadOnly); }, ThrowsMessage<Error>(HasSubstr("an older tune")));
  { const Store store(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-9.txt"));
  EXPECT_EQ(store.bests({}).front().best.clock_limit.max_clock_mhz, 1980);
}

TEST_F(MigrationTest, ReadsASchema10) {
  put("schema-10.sqlite");
  const Store store(path, kReadOnly);
  EXPECT_EQ(everything(store), data("schema-10.txt"));
  EXPECT_EQ(store.portfolios(example_subject().device).front().sizes.front().member_ns, 905.25);
}

TEST_F(MigrationTest, WritesTheRowsOfSchema10AsTheProgramDidThatMadeIt) {
  put("schema-10.sqlite");
  const std::string before = rows(path);
  fs::remove(path);
  {
    Store store(path, kReadWrite);
    fill_every_table(store);
  }
  EXPECT_EQ(rows(path), before);
  EXPECT_GT(before.size(), 5000U);
}

TEST_F(MigrationTest, RefusesTablesThatItDoesNotMake) {
  for (const std::string addition :
       {"CREATE TRIGGER t AFTER INSERT ON result BEGIN DELETE FROM best; END",
        "CREATE VIEW v AS SELECT 1", "CREATE TABLE t (x)", "CREATE INDEX i ON device (name)"}) {
    put("schema-10.sqlite");
    SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec(addition);
    for (const auto mode : {kReadWrite, kReadOnly}) {
      EXPECT_THAT([&] { Store(path, mode); },
                  ThrowsMessage<Error>(HasSubstr("not those that tune makes")))
          << addition;
    }
  }
}

}  // namespace
}  // namespace tuner::store
