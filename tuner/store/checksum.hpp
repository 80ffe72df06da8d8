// SPDX-License-Identifier: Apache-2.0
// Internal to store: every row carries a checksum of its values, and none is read that does not fit
// it.
//
// Writing: `checksum` is a column that SQLite computes with row_checksum(table, id, …) whenever it
// stores the row; a statement that writes names `main.table`. Reading: each table is hidden behind
// a temporary view of the same name, which adds the column `intact`: checked_row(table, checksum,
// id, …), which fails when the row does not fit. Every query selects `intact` of each table it
// reads, joined ones too. (As a condition it would be no use: SQLite may put the constant that a
// column is compared with in that column's place, before it compares.)
#pragma once

#include <SQLiteCpp/Database.h>

namespace tuner::store {

/// The extended error code with which checked_row fails; its message is complete, with the remedy.
/// SQLITE_CORRUPT_VTAB: SQLite itself has no other use for it without virtual tables.
inline constexpr int kDamagedRow = 267;

/// Makes row_checksum and checked_row known to a connection.
void register_checksums(SQLite::Database& database);

/// Hides every table behind its view. The schema must be the current one.
void add_checked_views(SQLite::Database& database);

/// Reads every row of every table, and so fails when one is damaged.
void check_every_row(const SQLite::Database& database);

}  // namespace tuner::store
