// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/connection.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/store/checksum.hpp"
#include "tuner/store/database_file.hpp"
#include "tuner/store/migration.hpp"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <sqlite3.h>

#include <cstring>
#include <utility>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 10'000;

/// Called while another program has the lock. SQLite's own handler sleeps up to 100 ms, in which
/// programs that commit one row after another keep a waiting one from the lock for the whole time.
int wait_for_lock(void* /*unused*/, int calls_before) {
  constexpr int kSleepMs = 2;
  sqlite3_sleep(kSleepMs);
  return calls_before < kBusyTimeoutMs / kSleepMs ? 1 : 0;
}

std::string remedy_for_read_only(int extended_code) {
  if (extended_code == SQLITE_READONLY_ROLLBACK) {
    return "an interrupted run left it half-written: run `tune` with write access to repair it";
  }
  return "it cannot be written: change its permissions or name another file with --db";
}

/// What went wrong and how to fix it, after "path: ".
std::string explain(const SQLite::Exception& exception, int system_error) {
  const std::string cause = system_error == 0 ? exception.what() : std::strerror(system_error);
  switch (exception.getErrorCode() & 0xff) {
    case SQLITE_NOTADB:
      return "is not a database: name another file with --db";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format(
          "another program has locked the database for {} s: wait for it, or name another file "
          "with --db",
          kBusyTimeoutMs / 1000);
    case SQLITE_FULL:
      return "the disk is full: free some space; everything committed before is kept";
    case SQLITE_READONLY:
      return remedy_for_read_only(exception.getExtendedErrorCode());
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return fmt::format(
          "the database or its journal cannot be opened: {}: check the permissions "
          "of the file and its directory",
          cause);
    case SQLITE_IOERR:
      return fmt::format(
          "input/output failed: {}: check the disk, its free space and its limits; "
          "everything committed before is kept",
          cause);
    case SQLITE_CORRUPT:
      if (exception.getExtendedErrorCode() == kDamagedRow) return exception.what();
      return fmt::format(
          "the database is damaged: {}: restore a copy, or move the file away and tune again",
          exception.what());
    case SQLITE_CONSTRAINT:
      return fmt::format("the database refused a row: {}", exception.what());
    default:
      return fmt::format("the database failed: {}", exception.what());
  }
}

[[noreturn]] void throw_error(const fs::path& path, const SQLite::Exception& exception,
                              int system_error) {
  const bool foreign = (exception.getErrorCode() & 0xff) == SQLITE_NOTADB;
  throw Error(
      foreign ? ErrorCode::usage : ErrorCode::failure,
      fmt::format("{}: {}", printable_name(path.string()), explain(exception, system_error)));
}

/// Limits that our statements and rows never reach, so that a hostile file costs little: its schema
/// contains statements too, and a row can claim any length. Sources have at most 1 MiB a file, and
/// 64 headers.
void limit_statements(sqlite3* database) {
  constexpr std::pair<int, int> kLimits[] = {{SQLITE_LIMIT_LENGTH, 256 << 20},
                                             {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                             {SQLITE_LIMIT_COLUMN, 200},
                                             {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                             {SQLITE_LIMIT_COMPOUND_SELECT, 50},
                                             {SQLITE_LIMIT_VDBE_OP, 1 << 20},
                                             {SQLITE_LIMIT_FUNCTION_ARG, 64},
                                             {SQLITE_LIMIT_ATTACHED, 0},
                                             {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                                             {SQLITE_LIMIT_TRIGGER_DEPTH, 10},
                                             {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (const auto& [limit, value] : kLimits) sqlite3_limit(database, limit, value);
}

SQLite::Database open_database(const fs::path& path, Store::Mode mode) {
  try {
    SQLite::Database database(sqlite_name(path), mode == Store::Mode::read_write
                                                     ? SQLite::OPEN_READWRITE
                                                     : SQLite::OPEN_READONLY);
    sqlite3_busy_handler(database.getHandle(), &wait_for_lock, nullptr);
    return database;
  } catch (const SQLite::Exception& exception) {
    throw_error(path, exception, 0);
  }
}

}  // namespace

Connection::Connection(const fs::path& path, Store::Mode mode, Store::Trust trust)
    : Connection(prepare_file(path, mode, trust), mode) {}

Connection::Connection(const PreparedFile& file, Store::Mode mode)
    : path_(file.path), database_(open_database(path_, mode)) {
  require_opened(file);
  guarded([&] { open(mode); });
}

void Connection::fail(const SQLite::Exception& exception) const {
  throw_error(path_, exception, sqlite3_system_errno(database_.getHandle()));
}

void Connection::open(Store::Mode mode) {
  const bool writable = mode == Store::Mode::read_write;
  if (writable && sqlite3_db_readonly(database_.getHandle(), "main") == 1) {
    throw Error(ErrorCode::failure, fmt::format("{}: {}", printable_name(path_.string()),
                                                remedy_for_read_only(SQLITE_READONLY)));
  }
  sqlite3_db_config(database_.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  limit_statements(database_.getHandle());
  database_.exec(
      "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"
      "PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL;");
  register_checksums(database_);
  // Nothing of another application's database may change, so its journal mode comes after this.
  read([&](SQLite::Database& database) {
    writable ? refuse_foreign_database(database, path_) : require_current_schema(database, path_);
    check_integrity();
  });
  if (writable) {
    database_.exec("PRAGMA journal_mode = TRUNCATE; PRAGMA foreign_keys = OFF");
    migrate(database_, path_);
  }
  add_checked_views(database_);
  read([](SQLite::Database& database) { check_every_row(database); });
  database_.exec(writable ? "PRAGMA foreign_keys = ON" : "PRAGMA query_only = ON");
}

/// A bit that flips in an index or in the pages' own numbers makes rows disappear, which no
/// checksum of a row can tell.
void Connection::check_integrity() const {
  const std::string verdict = database_.execAndGet("PRAGMA integrity_check(1)").getString();
  if (verdict != "ok") {
    throw Error(
        ErrorCode::failure,
        fmt::format("{}: the database is damaged: {}: restore a copy, or move the file away "
                    "and tune again",
                    printable_name(path_.string()), verdict));
  }
}

}  // namespace tuner::store
