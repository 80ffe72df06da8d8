// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/checksum.hpp"

#include "tuner/core/hash.hpp"
#include "tuner/core/shell_words.hpp"

#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>

#include <sqlite3.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::store {

static_assert(kDamagedRow == SQLITE_CORRUPT_VTAB);

namespace {

using Values = std::span<sqlite3_value* const>;

std::string_view text_of(sqlite3_value* value) {
  const void* const bytes = sqlite3_value_blob(value);  // before its size: it may convert
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

template <class Number>
void append_bytes(std::string& bytes, Number number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// Appends a value behind its type and, for a text, its length: 1, 1.0 and '1' differ, and no two
/// rows look the same.
void append_value(std::string& bytes, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  bytes += static_cast<char>(type);
  switch (type) {
    case SQLITE_INTEGER:
      return append_bytes(bytes, sqlite3_value_int64(value));
    case SQLITE_FLOAT:
      return append_bytes(bytes, sqlite3_value_double(value) + 0.0);  // SQLite keeps -0.0 as 0
    case SQLITE_NULL:
      return;
    default:
      const std::string_view text = text_of(value);
      append_bytes(bytes, text.size());
      bytes += text;
  }
}

std::string hash_of(sqlite3_value* table, Values row) {
  constexpr std::size_t kUsual = 1024;
  std::string bytes;
  bytes.reserve(kUsual);
  append_value(bytes, table);
  for (sqlite3_value* value : row) append_value(bytes, value);
  return content_hash({bytes});
}

void row_checksum(sqlite3_context* context, int count, sqlite3_value** arguments) {
  const Values values(arguments, static_cast<std::size_t>(count));
  const std::string checksum = hash_of(values[0], values.subspan(1));
  sqlite3_result_text(context, checksum.data(), static_cast<int>(checksum.size()),
                      SQLITE_TRANSIENT);
}

void checked_row(sqlite3_context* context, int count, sqlite3_value** arguments) {
  const Values values(arguments, static_cast<std::size_t>(count));
  const Values row = values.subspan(2);
  if (text_of(values[1]) == hash_of(values[0], row)) return sqlite3_result_int(context, 1);
  const char* const path = sqlite3_db_filename(sqlite3_context_db_handle(context), "main");
  const std::string message = fmt::format(
      "row {1} of table {0} is damaged (its checksum does not match its values): restore a copy, "
      "or "
      "delete the row and all rows that refer to it with `sqlite3 {2} \"PRAGMA foreign_keys = ON; "
      "DELETE FROM {0} WHERE id = {1}\"` and tune again",
      text_of(values[0]), sqlite3_value_int64(row[0]), shell_word(path == nullptr ? "" : path));
  sqlite3_result_error(context, message.data(), static_cast<int>(message.size()));
  sqlite3_result_error_code(context, kDamagedRow);
}

void register_function(SQLite::Database& database, const char* name,
                       void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  // Innocuous: the schema is not trusted and may call nothing else.
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const int result = sqlite3_create_function_v2(database.getHandle(), name, -1, kFlags, nullptr,
                                                function, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) throw SQLite::Exception(database.getHandle(), result);
}

std::vector<std::string> tables(const SQLite::Database& database) {
  std::vector<std::string> names;
  SQLite::Statement found(database, "SELECT name FROM main.sqlite_schema WHERE type = 'table'");
  while (found.executeStep()) names.push_back(found.getColumn(0).getString());
  return names;
}

/// The columns of a table, in order, without those that SQLite computes.
std::string checked_columns(const SQLite::Database& database, const std::string& table) {
  SQLite::Statement found(database,
                          "SELECT group_concat(name, ', ') FROM (SELECT name FROM "
                          "pragma_table_xinfo(?, 'main') WHERE hidden = 0 ORDER BY cid)");
  found.bind(1, table);
  found.executeStep();
  return found.getColumn(0).getString();
}

}  // namespace

void register_checksums(SQLite::Database& database) {
  register_function(database, "row_checksum", row_checksum);
  register_function(database, "checked_row", checked_row);
}

void add_checked_views(SQLite::Database& database) {
  for (const std::string& table : tables(database)) {
    database.exec(
        fmt::format("CREATE TEMP VIEW {0} AS SELECT *, checked_row('{0}', checksum, {1}) AS intact "
                    "FROM main.{0}",
                    table, checked_columns(database, table)));
  }
}

void check_every_row(const SQLite::Database& database) {
  for (const std::string& table : tables(database)) {
    SQLite::Statement(database, fmt::format("SELECT count(intact) FROM {}", table)).executeStep();
  }
}

}  // namespace tuner::store
