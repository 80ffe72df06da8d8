// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/checksum.hpp"

#include "example_records.hpp"
#include "example_store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tuner::store {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

struct Column {
  std::string table, name, change;
};

std::vector<Column> columns_of_every_table(const std::filesystem::path& path) {
  const SQLite::Database database(path.string());
  SQLite::Statement found(database,
                          "SELECT t.name, c.name, iif(c.type = 'TEXT', "
                          "format('%s = coalesce(%s, '''') || ''x''', c.name, c.name), "
                          "format('%s = coalesce(%s, 0) + 1000', c.name, c.name)) "
                          "FROM sqlite_schema t, pragma_table_xinfo(t.name) c "
                          "WHERE t.type = 'table' AND c.hidden = 0");
  std::vector<Column> columns;
  while (found.executeStep()) {
    columns.push_back({found.getColumn(0), found.getColumn(1), found.getColumn(2)});
  }
  return columns;
}

TEST(RowChecksum, CoversEveryColumnOfEveryTable) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  {
    Store store(path, Store::Mode::read_write);
    fill_every_table(store);
  }
  const std::string intact = read_file(path, 1 << 24);
  const std::vector<Column> columns = columns_of_every_table(path);
  EXPECT_GT(columns.size(), 140U);
  for (const auto& [table, name, change] : columns) {
    tamper(path, table, change);
    EXPECT_THAT([&] { const Store store(path, kReadOnly); }, testing::Throws<Error>())
        << table << "." << name;
    write_file(path, intact);
    EXPECT_NO_THROW(Store(path, kReadOnly)) << table;
  }
}

TEST(RowChecksum, IsCheckedWhenARowIsReadAndWhenItIsOnlyJoined) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  Store store(path, Store::Mode::read_write);
  fill_every_table(store);
  const auto damaged = [&](const std::string& table) {
    return ThrowsMessage<Error>(
        AllOf(HasSubstr(path.string() + ": row 1 of table " + table + " is damaged"),
              HasSubstr("restore a copy"), HasSubstr("DELETE FROM " + table + " WHERE id = 1"),
              HasSubstr("tune again")));
  };
  tamper(path, "result", "registers = 127");
  EXPECT_THAT([&] { static_cast<void>(store.trials(1)); }, damaged("result"));
  EXPECT_NO_THROW(static_cast<void>(store.bests({})));
  tamper(path, "device", "memory_bytes = 1");
  EXPECT_THAT([&] { static_cast<void>(store.bests({})); }, damaged("device"));
  tamper(path, "session", "strategy = 'x'");  // writing it anew must not make it look intact
  EXPECT_THAT([&] { store.end_run(1, {}); }, damaged("session"));
}

TEST(RowChecksum, TellsTypesAndBoundariesApart) {
  SQLite::Database database(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  register_checksums(database);
  std::set<std::string> checksums;
  const std::vector<std::string> rows = {"1",     "'1'",      "1.0",      "NULL",       "''",
                                         "'n'",   "'i1'",     "1, 2",     "2, 1",       "12",
                                         "'ab'",  "'a', 'b'", "'', 'ab'", "'ab', ''",   "'a\n'",
                                         "1e300", "1, NULL",  "'NULL'",   "x'6162', 1", "-1"};
  for (const std::string& row : rows) {
    checksums.insert(
        database.execAndGet(fmt::format("SELECT row_checksum('t', {})", row)).getString());
  }
  checksums.insert(database.execAndGet("SELECT row_checksum('u', 1)").getString());
  EXPECT_THAT(checksums, SizeIs(rows.size() + 1));
  EXPECT_EQ(database.execAndGet("SELECT row_checksum('t', -0.0) = row_checksum('t', 0.0)").getInt(),
            1);  // SQLite keeps the one as the other
}

TEST(RowChecksum, LetsTheRowBeGivenUpAsItsMessageSays) {
  const TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "tune.sqlite";
  {
    Store store(path, Store::Mode::read_write);
    fill_every_table(store);
  }
  tamper(path, "result", "registers = 127");
  std::string message;
  try {
    const Store store(path, kReadOnly);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::size_t begin = message.find("\"PRAGMA") + 1;
  ASSERT_NE(begin, 0U) << message;
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE)
      .exec(message.substr(begin, message.find('"', begin) - begin));
  const Store store(path, kReadOnly);
  EXPECT_THAT(store.trials(1), SizeIs(7));
}

}  // namespace
}  // namespace tuner::store
