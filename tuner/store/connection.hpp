// SPDX-License-Identifier: Apache-2.0
// Internal to store: the open database, and SQLite's failures as errors for the user.
#pragma once

#include "tuner/store/database_file.hpp"
#include "tuner/store/rows.hpp"
#include "tuner/store/store.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tuner::store {

/// A connection's database with its prepared statements: of a short statement, preparing takes most
/// of the time.
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
    (bind_next(statement_, index, values), ...);
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

/// One connection to the database, set up and with its schema up to date. Threads may share it:
/// their transactions come one after the other.
class Connection {
 public:
  /// As Store's constructor.
  Connection(const std::filesystem::path& path, Store::Mode mode, Store::Trust trust);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Runs `work(database)` as one read transaction: everything it sees is of one moment.
  template <class Work>
  auto read(Work&& work) const {
    return transact(SQLite::TransactionBehavior::DEFERRED, work);
  }

  /// Runs `work(database)` as one transaction that is committed when it returns and undone when it
  /// throws. Takes the write lock first, so that it never fails halfway for want of it.
  template <class Work>
  auto write(Work&& work) {
    return transact(SQLite::TransactionBehavior::IMMEDIATE, work);
  }

 private:
  Connection(const PreparedFile& file, Store::Mode mode);

  /// SQLite's failure as an Error(failure), or Error(usage) when the file is no database.
  [[noreturn]] void fail(const SQLite::Exception& exception) const;

  template <class Work>
  auto guarded(Work&& work) const {
    try {
      return work();
    } catch (const SQLite::Exception& exception) {
      fail(exception);
    }
  }

  template <class Work>
  auto transact(SQLite::TransactionBehavior behavior, Work&& work) const {
    const std::scoped_lock lock(mutex_);
    return guarded([&] {
      SQLite::Transaction transaction(database_, behavior);
      if constexpr (std::is_void_v<decltype(work(database_))>) {
        work(database_);
        transaction.commit();
      } else {
        auto result = work(database_);
        transaction.commit();
        return result;
      }
    });
  }

  void open(Store::Mode mode);
  void check_integrity() const;

  std::filesystem::path path_;
  mutable std::mutex mutex_;
  mutable Database database_;  // a read, too, changes the state of the connection
};

struct Store::State {
  Connection connection;
};

}  // namespace tuner::store
