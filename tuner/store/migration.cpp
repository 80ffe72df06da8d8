// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/migration.hpp"

#include "embedded/schema_0001_initial.hpp"
#include "embedded/schema_0002_checksums_and_journal.hpp"
#include "embedded/schema_0003_check_hash.hpp"
#include "embedded/schema_0004_cards.hpp"
#include "embedded/schema_0005_library_algorithms.hpp"
#include "embedded/schema_0006_explanations_and_energy.hpp"
#include "embedded/schema_0007_trial_series.hpp"
#include "embedded/schema_0008_portfolios.hpp"
#include "embedded/schema_0009_clock_limits.hpp"
#include "embedded/schema_0010_portfolios_back_to_back.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/failpoint.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/store/database_file.hpp"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <sqlite3.h>

#include <array>
#include <string>
#include <string_view>

namespace tuner::store {
namespace {

constexpr int kApplicationId = 0x74756e65;  // "tune" in ASCII

struct Migration {
  std::string_view (*sql)();
  std::string_view leads_to;  ///< fingerprint() of the database after it
};

/// db/schema, by number: the first leads from an empty database to schema 1.
constexpr std::array kMigrations = {
    Migration{&embedded::schema_0001_initial, "2a015178c2651b15223aa8284b05114f"},
    Migration{&embedded::schema_0002_checksums_and_journal, "f8457ef884374b00d9c986a84cd4d291"},
    Migration{&embedded::schema_0003_check_hash, "3aef3400b96bb5920113652cc626da65"},
    Migration{&embedded::schema_0004_cards, "d9211579d26fb668bb00a07c95932c61"},
    Migration{&embedded::schema_0005_library_algorithms, "e9964807a78e01940c735887cede9ba6"},
    Migration{&embedded::schema_0006_explanations_and_energy, "9db3bb4bf95616794eb6a657f94032da"},
    Migration{&embedded::schema_0007_trial_series, "52797d7bc2f105697e0e9860c0cb5c75"},
    Migration{&embedded::schema_0008_portfolios, "8818cece8cd907ce44a7aae4b15be0c5"},
    Migration{&embedded::schema_0009_clock_limits, "7176fcf524d530fd8cd31534b4577303"},
    Migration{&embedded::schema_0010_portfolios_back_to_back, "9d86cded4047a067ec62e6a1c9a8eed5"}};

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

/// Of every table and index, by the statements that made them.
std::string fingerprint(const SQLite::Database& database) {
  SQLite::Statement found(database,
                          "SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_schema "
                          "ORDER BY name, type");
  std::string statements;
  while (found.executeStep()) {
    for (int i = 0; i < found.getColumnCount(); ++i) {
      statements += found.getColumn(i).getString() + '\n';
    }
  }
  return content_hash({statements});
}

/// A copy that only the user may read. Reads by a connection of its own: the one that has the
/// write lock may not be copied from.
void back_up(const std::filesystem::path& path, int schema) {
  const std::filesystem::path copy = fmt::format("{}.schema-{}.bak", path.string(), schema);
  std::filesystem::remove(copy);  // of an attempt that came to nothing
  create_file(copy);
  SQLite::Database source(sqlite_name(path), SQLite::OPEN_READONLY);
  SQLite::Database target(sqlite_name(copy), SQLite::OPEN_READWRITE);
  if (SQLite::Backup(target, source).executeStep() != SQLITE_DONE) {
    throw Error(ErrorCode::failure, fmt::format("{}: cannot be migrated: the copy to {} failed: "
                                                "try again when no other program uses it",
                                                path.string(), copy.string()));
  }
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
  if (schema(database) < 1) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: the database is damaged: its schema number (user_version) is {}, "
                            "tune writes 1 to {}: restore a copy, or move the file away and tune "
                            "again",
                            path.string(), schema(database), current_schema()));
  }
  if (schema(database) > current_schema()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: was written by a newer tune (schema {}; this one supports {}): "
                            "update tune, or name another file with --db",
                            path.string(), schema(database), current_schema()));
  }
  const std::string tables = fingerprint(database);
  if (tables != kMigrations[static_cast<std::size_t>(schema(database) - 1)].leads_to) {
    throw Error(
        ErrorCode::failure,
        fmt::format(
            "{}: its tables are not those that tune makes (they are {}): the file is "
            "damaged, or another program added to it: restore a copy, or move the file away "
            "and tune again",
            printable_name(path.string()), tables));
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
    throw Error(
        ErrorCode::usage,
        fmt::format("{}: was written by an older tune (schema {}; this one supports {}): the "
                    "next `tune` run that writes to it migrates it",
                    path.string(), schema(database), current_schema()));
  }
}

void migrate(SQLite::Database& database, const std::filesystem::path& path) {
  if (schema(database) == current_schema()) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  refuse_foreign_database(database, path);  // another process may have been here before the lock
  if (schema(database) == current_schema()) return;
  if (schema(database) > 0) back_up(path, schema(database));
  failpoint("store.schema_locked");
  for (int number = schema(database); number < current_schema(); ++number) {
    database.exec(std::string(kMigrations[static_cast<std::size_t>(number)].sql()));
  }
  if (SQLite::Statement(database, "PRAGMA foreign_key_check").executeStep()) {
    throw Error(ErrorCode::failure,
                fmt::format("{}: the database is damaged: a row refers to one that is not there: "
                            "restore a copy",
                            path.string()));
  }
  database.exec(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                            current_schema()));
  failpoint("store.schema_ready");
  transaction.commit();
  failpoint("store.schema_committed");
}

}  // namespace tuner::store
