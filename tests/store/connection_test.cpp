// SPDX-License-Identifier: Apache-2.0
// Opening: whose file it is, what state it is in, and who may see it.
#include "tuner/store/connection.hpp"

#include "example_records.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/local_copy.hpp"

#include <SQLiteCpp/Database.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// A rollback journal of no pages (sqlite.org/fileformat.html, section 3) of a transaction over
/// several databases, whose super-journal is `name`.
std::string journal_with_super_journal(std::string_view database, const std::string& name) {
  const std::string magic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const auto number = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  constexpr std::uint32_t kSector = 512;
  constexpr std::uint32_t kPage = 4096;
  const auto pages = static_cast<std::uint32_t>(database.size() / kPage);
  std::string bytes =
      magic + number(0) + number(1) + number(pages) + number(kSector) + number(kPage);
  bytes.resize(kSector);
  std::uint32_t checksum = 0;
  for (const char c : name) checksum += static_cast<unsigned char>(c);
  constexpr std::uint32_t kLockPage = 0x40000000 / kPage + 1;
  return bytes + number(kLockPage) + name + number(static_cast<std::uint32_t>(name.size())) +
         number(checksum) + magic;
}

/// The number of the last migration.
int newest_schema() {
  return static_cast<int>(std::ranges::distance(
      fs::directory_iterator(TUNER_SOURCE_DIR "/db/schema"), fs::directory_iterator()));
}

class ConnectionTest : public testing::Test {
 protected:
  /// The error of opening `path`, after checking that its message begins with the path.
  ErrorCode error_of_opening(Store::Mode mode, testing::Matcher<const std::string&> message) {
    try {
      const Store store(path, mode);
    } catch (const Error& error) {
      EXPECT_THAT(std::string(error.what()), message);
      EXPECT_THAT(std::string(error.what()), HasSubstr(path.string()));
      return error.code();
    }
    ADD_FAILURE() << path << " was opened";
    return ErrorCode::failure;
  }

  void execute(const std::string& sql) const {
    SQLite::Database(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
  [[nodiscard]] int pragma(const std::string& name) const {
    return SQLite::Database(path.string()).execAndGet("PRAGMA " + name).getInt();
  }
  void create_with_one_trial() const {
    Store store(path, kReadWrite);
    const std::int64_t id = store.begin_run(example_subject(), example_run());
    store.record_trial(id, example_trial(), 0);
    record_lone_final(store, id, example_best());
  }

  TemporaryDirectory directory;
  fs::path path = directory.path() / "tune.sqlite";
};

/// SQLite would play such a journal back and then delete the file that it names.
TEST_F(ConnectionTest, RefusesAJournalThatNamesAFileToBeDeleted) {
  create_with_one_trial();
  const fs::path victim = directory.path() / "precious";
  const fs::path journal = path.string() + "-journal";
  write_file(victim, "precious");
  for (const Store::Mode mode : {kReadWrite, kReadOnly}) {
    write_file(journal, journal_with_super_journal(read_file(path, 1 << 24), victim.string()));
    EXPECT_EQ(error_of_opening(mode, HasSubstr("names a second journal")), ErrorCode::usage);
    EXPECT_TRUE(fs::exists(victim));
  }
  EXPECT_THROW(LocalCopy{path}, Error);
  EXPECT_TRUE(fs::exists(victim));
}

TEST_F(ConnectionTest, RefusesWhatIsNoFileBesideIt) {
  create_with_one_trial();
  for (const char* ending : {"-journal", "-wal", "-shm"}) {
    const fs::path beside = path.string() + ending;
    fs::remove(beside);                            // what the writer left is empty
    ASSERT_EQ(::mkfifo(beside.c_str(), 0600), 0);  // SQLite would wait for ever
    EXPECT_EQ(error_of_opening(kReadOnly, HasSubstr("is not a regular file")), ErrorCode::usage);
    fs::remove(beside);
  }
  const Store store(path, kReadOnly);
}

TEST_F(ConnectionTest, TakesNoNameForAnAddress) {
  fs::create_directory(directory.path() / "here");
  const fs::path before = fs::current_path();
  fs::current_path(directory.path() / "here");
  path = "file:x?mode=memory";
  create_with_one_trial();
  EXPECT_TRUE(fs::is_regular_file(path));
  EXPECT_THAT(Store(path, kReadOnly).bests({}), SizeIs(1));
  fs::current_path(before);
}

TEST_F(ConnectionTest, ANumberThatNoSchemaHasIsDamage) {
  create_with_one_trial();
  for (const char* number : {"-5", "0"}) {
    execute(fmt::format("PRAGMA user_version = {}", number));
    EXPECT_EQ(error_of_opening(kReadOnly, HasSubstr(fmt::format(
                                              "damaged: its schema number (user_version) is {}, "
                                              "tune writes 1 to",
                                              number))),
              ErrorCode::failure);
  }
}

TEST_F(ConnectionTest, CreatesADatabaseForTheUserAlone) {
  path = directory.path() / "new" / "deeper" / "tune.sqlite";
  const Store store(path, kReadWrite);
  EXPECT_EQ(store.path(), path);
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(fs::status(path.parent_path()).permissions(), fs::perms::owner_all);
}

TEST_F(ConnectionTest, StampsTheDatabaseWithItsApplicationAndSchema) {
  { const Store store(path, kReadWrite); }
  EXPECT_EQ(pragma("application_id"), 0x74756e65);
  EXPECT_EQ(pragma("user_version"), newest_schema());
}

TEST_F(ConnectionTest, KeepsEverythingOverReopening) {
  create_with_one_trial();
  { const Store again(path, kReadWrite); }
  const Store store(path, kReadOnly);
  EXPECT_THAT(store.runs(), SizeIs(1));
  EXPECT_THAT(store.trials(1), SizeIs(1));
  EXPECT_THAT(store.bests({}), SizeIs(1));
}

TEST_F(ConnectionTest, BringsAnEmptyDatabaseUpToDate) {
  write_file(path, "");
  create_with_one_trial();
  EXPECT_EQ(pragma("user_version"), newest_schema());
}

TEST_F(ConnectionTest, RefusesANewerSchemaAndLeavesItAlone) {
  create_with_one_trial();
  const int newer = newest_schema() + 1;
  execute(fmt::format("PRAGMA user_version = {}", newer));
  const auto message =
      AllOf(HasSubstr(fmt::format("schema {}", newer)),
            HasSubstr(fmt::format("supports {}", newest_schema())), HasSubstr("update tune"));
  EXPECT_EQ(error_of_opening(kReadWrite, message), ErrorCode::usage);
  EXPECT_EQ(error_of_opening(kReadOnly, message), ErrorCode::usage);
  EXPECT_EQ(pragma("user_version"), newer);
}

TEST_F(ConnectionTest, RefusesADatabaseOfAnotherApplicationAndLeavesItAlone) {
  execute("PRAGMA journal_mode = WAL; PRAGMA application_id = 252006673; CREATE TABLE t (x)");
  const std::string before = read_file(path, 1 << 20);
  EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("another application")), ErrorCode::usage);
  EXPECT_EQ(error_of_opening(kReadOnly, HasSubstr("another application")), ErrorCode::usage);
  EXPECT_EQ(read_file(path, 1 << 20), before);
}

TEST_F(ConnectionTest, RefusesTablesWithoutTheApplicationId) {
  execute("CREATE TABLE device (x)");
  EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("another application")), ErrorCode::usage);
}

TEST_F(ConnectionTest, RefusesAFileThatIsNoDatabase) {
  for (const std::string& content : {std::string("x\n"), std::string(5000, 'x')}) {
    write_file(path, content);
    EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("is not a database")), ErrorCode::usage);
    EXPECT_EQ(error_of_opening(kReadOnly, HasSubstr("is not a database")), ErrorCode::usage);
    EXPECT_EQ(read_file(path, 1 << 20), content);
  }
}

TEST_F(ConnectionTest, RefusesADirectory) {
  path = directory.path();
  EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("is a directory")), ErrorCode::usage);
}

TEST_F(ConnectionTest, FindsNothingWhereThereIsNoDatabaseToRead) {
  EXPECT_EQ(error_of_opening(kReadOnly, AllOf(StartsWith("no database at "),
                                              HasSubstr("run `tune` first, or name another"))),
            ErrorCode::nothing_found);
  EXPECT_FALSE(fs::exists(path));
  write_file(path, "");
  EXPECT_EQ(error_of_opening(kReadOnly, HasSubstr("empty database")), ErrorCode::nothing_found);
}

TEST_F(ConnectionTest, SaysWhyADatabaseCannotBeCreated) {
  write_file(directory.path() / "file", "");
  path = directory.path() / "file" / "tune.sqlite";
  EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("cannot be created")), ErrorCode::failure);
  path = "/proc/tune.sqlite";  // where not even root may create a file
  EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("cannot be created")), ErrorCode::failure);
}

TEST_F(ConnectionTest, RefusesToWriteThroughAReadOnlyStore) {
  create_with_one_trial();
  Store store(path, kReadOnly);
  EXPECT_THROW(store.record_trial(1, example_trial(), 0), Error);
  EXPECT_THAT(store.trials(1), SizeIs(1));
}

TEST_F(ConnectionTest, NoticesADamagedPage) {
  create_with_one_trial();
  const auto size = fs::file_size(path);
  std::string content = read_file(path, size);
  content.replace(4096, size - 4096, size - 4096, '\x5a');
  write_file(path, content);
  EXPECT_EQ(error_of_opening(kReadWrite, HasSubstr("damaged")), ErrorCode::failure);
}

TEST_F(ConnectionTest, WritesNothingBesideTheDatabaseWhenIdle) {
  create_with_one_trial();
  EXPECT_FALSE(fs::exists(path.string() + "-wal"));
  const fs::path journal = path.string() + "-journal";
  EXPECT_TRUE(!fs::exists(journal) || fs::file_size(journal) == 0);
}

}  // namespace
}  // namespace tuner::store
