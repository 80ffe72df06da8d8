// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/connection.hpp"

#include "tuner/core/error.hpp"
#include "tuner/store/migration.hpp"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tuner {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyTimeoutMs = 10'000;

[[noreturn]] void fail_to_create(const fs::path& path, const std::string& why) {
  throw Error(ErrorCode::failure,
              fmt::format("{}: the database cannot be created: {}: name a place that can be "
                          "written with --db",
                          path.string(), why));
}

/// Makes the directory, for the user alone when it is new.
void make_directory(const fs::path& path, const fs::path& directory) {
  std::error_code error;
  if (directory.empty() || fs::is_directory(directory, error)) return;
  if (directory.has_parent_path()) fs::create_directories(directory.parent_path(), error);
  if (error) fail_to_create(path, fmt::format("{}: {}", directory.string(), error.message()));
  if (::mkdir(directory.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    fail_to_create(path, fmt::format("{}: {}", directory.string(), std::strerror(errno)));
  }
}

/// Makes an empty file, for the user alone. One that is there is left alone, not even opened:
/// closing it would drop the locks that another connection of this process holds on it.
void create_file(const fs::path& path) {
  make_directory(path, path.parent_path());
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file >= 0) {
    ::close(file);
  } else if (errno != EEXIST) {
    fail_to_create(path, std::strerror(errno));
  }
}

fs::path prepare_file(fs::path path, Store::Mode mode) {
  if (path == kInMemory) return path;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is a directory: name a database file with --db", path.string()));
  }
  if (mode == Store::Mode::read_write) {
    create_file(path);
  } else if (!fs::exists(path, ignored)) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("no database at {}: run `tune` first or name one with --db", path.string()));
  }
  return path;
}

int open_flags(Store::Mode mode) {
  return mode == Store::Mode::read_write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                         : SQLite::OPEN_READONLY;
}

std::string remedy_for_read_only(int extended_code) {
  if (extended_code == SQLITE_READONLY_ROLLBACK) {
    return "an interrupted run left it half-written: a run of `tune` that may write it mends it";
  }
  return "it cannot be written: change its permissions or name another file with --db";
}

/// What went wrong and how to mend it, after "path: ".
std::string explain(const SQLite::Exception& exception, int system_error) {
  const std::string cause = system_error == 0 ? exception.what() : std::strerror(system_error);
  switch (exception.getErrorCode() & 0xff) {
    case SQLITE_NOTADB:
      return "is not a database: name another file with --db";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format(
          "another program has kept the database locked for {} s: let it end or "
          "name another file with --db",
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
      return fmt::format(
          "the database is damaged: {}: restore a copy, or save what is left with "
          "`sqlite3 FILE .recover | sqlite3 NEW`",
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
  throw Error(foreign ? ErrorCode::usage : ErrorCode::failure,
              fmt::format("{}: {}", path.string(), explain(exception, system_error)));
}

SQLite::Database open_database(const fs::path& path, Store::Mode mode) {
  try {
    return SQLite::Database(path.string(), open_flags(mode), kBusyTimeoutMs);
  } catch (const SQLite::Exception& exception) {
    throw_error(path, exception, 0);
  }
}

}  // namespace

Connection::Connection(fs::path path, Store::Mode mode)
    : path_(prepare_file(std::move(path), mode)), database_(open_database(path_, mode)) {
  guarded([&] { open(mode); });
}

void Connection::fail(const SQLite::Exception& exception) const {
  throw_error(path_, exception, sqlite3_system_errno(database_.getHandle()));
}

void Connection::open(Store::Mode mode) {
  const bool writable = mode == Store::Mode::read_write;
  if (writable && sqlite3_db_readonly(database_.getHandle(), "main") == 1) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: {}", path_.string(), remedy_for_read_only(SQLITE_READONLY)));
  }
  sqlite3_db_config(database_.getHandle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  database_.exec(
      "PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"
      "PRAGMA mmap_size = 0; PRAGMA synchronous = FULL;");
  if (!writable) {
    database_.exec("PRAGMA query_only = ON");
    require_current_schema(database_, path_);
    return;
  }
  // Nothing of another application's database may change, so its journal mode comes after this.
  refuse_foreign_database(database_, path_);
  check_integrity();
  database_.exec("PRAGMA journal_mode = TRUNCATE");
  migrate(database_, path_);
}

void fail_damaged_row(const fs::path& path, std::string_view table, std::int64_t id) {
  throw Error(ErrorCode::failure,
              fmt::format("{0}: row {2} of table {1} is damaged (its checksum does not fit its "
                          "values): restore a copy, or give the row up with "
                          "`sqlite3 {0} \"DELETE FROM {1} WHERE id = {2}\"` and tune again",
                          path.string(), table, id));
}

void Connection::check_integrity() const {
  const std::string verdict = database_.execAndGet("PRAGMA quick_check(1)").getString();
  if (verdict != "ok") {
    throw Error(ErrorCode::failure,
                fmt::format("{0}: the database is damaged: {1}: restore a copy, or save what is "
                            "left with `sqlite3 {0} .recover | sqlite3 NEW`",
                            path_.string(), verdict));
  }
}

}  // namespace tuner
