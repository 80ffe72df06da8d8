// SPDX-License-Identifier: Apache-2.0
// Internal to store: statements that stay prepared. Of a short statement, preparing takes most of
// the time.
#pragma once

#include "tuner/store/rows.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace tuner::store {

/// A connection's database with its prepared statements.
class Database : public SQLite::Database {
 public:
  explicit Database(SQLite::Database&& opened) : SQLite::Database(std::move(opened)) {}

  [[nodiscard]] SQLite::Statement& kept(std::string_view sql) const {
    const auto found = kept_.find(sql);
    if (found != kept_.end()) return found->second;
    return kept_.try_emplace(std::string(sql), *this, std::string(sql)).first->second;
  }

 private:
  mutable std::map<std::string, SQLite::Statement, std::less<>> kept_;
};

/// The use of a statement whose text is always the same, with its parameters bound from left to
/// right. It must end before the transaction does, and before the next use of the same text begins.
class KeptStatement {
 public:
  template <class... Values>
  KeptStatement(const Database& database, std::string_view sql, const Values&... values)
      : statement_(database.kept(sql)) {
    int index = 0;
    (bind_value(statement_, ++index, values), ...);
  }
  ~KeptStatement() { statement_.tryReset(); }
  KeptStatement(const KeptStatement&) = delete;
  KeptStatement& operator=(const KeptStatement&) = delete;

  SQLite::Statement* operator->() { return &statement_; }
  SQLite::Statement& operator*() { return statement_; }

 private:
  SQLite::Statement& statement_;
};

/// The id of the row with these values, which `insert` adds when `select` finds none; both
/// statements take the values in the same order.
template <class... Values>
std::int64_t intern_row(const Database& database, const char* insert, const char* select,
                        const Values&... values) {
  {
    KeptStatement found(database, select, values...);
    if (found->executeStep()) return found->getColumn(0).getInt64();
  }
  KeptStatement(database, insert, values...)->exec();
  return database.getLastInsertRowid();
}

}  // namespace tuner::store
