// SPDX-License-Identifier: Apache-2.0
// Internal to store: the open database, and SQLite's failures as errors for the user.
#pragma once

#include "tuner/store/database_file.hpp"
#include "tuner/store/kept_statement.hpp"
#include "tuner/store/store.hpp"

#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Transaction.h>

#include <filesystem>
#include <mutex>
#include <type_traits>

namespace tuner::store {

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
