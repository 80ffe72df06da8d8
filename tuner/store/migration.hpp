// SPDX-License-Identifier: Apache-2.0
// Internal to store: whose database it is, and bringing an older one up to date.
#pragma once

#include <SQLiteCpp/Database.h>

#include <filesystem>

namespace tuner::store {

/// The schema this program reads and writes; kept in a database as its user_version.
[[nodiscard]] int current_schema();

/// Throws Error(usage) unless the database is empty or of this program at the current schema or an
/// older one, and Error(failure) when its tables are not the ones that our migrations make: a bit
/// flipped in them, or a trigger or a view was added. Changes nothing.
void refuse_foreign_database(SQLite::Database& database, const std::filesystem::path& path);

/// Throws Error(usage) unless the database is of this program at the current schema.
void require_current_schema(SQLite::Database& database, const std::filesystem::path& path);

/// Applies the migrations that the database lacks, all in one transaction, after a copy of an older
/// one to PATH.schema-N.bak. Foreign keys must be off. Throws as refuse_foreign_database does.
void migrate(SQLite::Database& database, const std::filesystem::path& path);

}  // namespace tuner::store
