// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/migration.hpp"

#include "embedded/schema_0001_initial.hpp"
#include "tuner/core/error.hpp"

#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace tuner {
namespace {

constexpr int kApplicationId = 0x74756e65;  // "tune" in ASCII

/// db/schema, by number: the first leads from an empty database to schema 1.
constexpr std::array kMigrations = {&embedded::schema_0001_initial};

int pragma(SQLite::Database& database, const char* name) {
  return database.execAndGet(fmt::format("PRAGMA {}", name)).getInt();
}

bool is_empty(SQLite::Database& database) {
  return pragma(database, "application_id") == 0 && pragma(database, "user_version") == 0 &&
         database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
}

/// The schema of a database that is known to be ours or empty.
int schema(SQLite::Database& database) {
  return pragma(database, "user_version");
}

}  // namespace

int current_schema() {
  return static_cast<int>(kMigrations.size());
}

void refuse_foreign_database(SQLite::Database& database, const std::filesystem::path& path) {
  if (is_empty(database)) return;
  if (const int id = pragma(database, "application_id"); id != kApplicationId) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is a database of another application (application_id {:#x}): "
                            "name another file with --db",
                            path.string(), static_cast<unsigned>(id)));
  }
  if (schema(database) > current_schema()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: was written by a newer tune (schema {}; this one knows {}): "
                            "update tune, or name another file with --db",
                            path.string(), schema(database), current_schema()));
  }
}

void require_current_schema(SQLite::Database& database, const std::filesystem::path& path) {
  refuse_foreign_database(database, path);
  if (is_empty(database)) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{}: is an empty database: run `tune` first or name another with --db",
                            path.string()));
  }
  if (schema(database) < current_schema()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: was written by an older tune (schema {}; this one reads {}): the "
                            "next `tune` run that writes to it brings it up to date",
                            path.string(), schema(database), current_schema()));
  }
}

void migrate(SQLite::Database& database, const std::filesystem::path& path) {
  if (schema(database) == current_schema()) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  refuse_foreign_database(database, path);  // another process may have been here before the lock
  for (int number = schema(database); number < current_schema(); ++number) {
    database.exec(std::string(kMigrations[static_cast<std::size_t>(number)]()));
  }
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                            current_schema()));
  transaction.commit();
}

}  // namespace tuner
