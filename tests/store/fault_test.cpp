// SPDX-License-Identifier: Apache-2.0
// Input and output that fails, and bits that flip.
#include "example_records.hpp"
#include "example_store.hpp"
#include "tests/support/lone_final.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;

/// The system's files, of which one operation fails. Syncs are left out: nobody pulls the plug.
class FailingFiles {
 public:
  FailingFiles() {
    real() = sqlite3_vfs_find(nullptr);
    vfs_ = *real();
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real()->szOsFile;
    vfs_.zName = "failing";
    vfs_.xOpen = open;
    vfs_.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
      return fails() ? SQLITE_IOERR_DELETE : real()->xDelete(real(), name, sync);
    };
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~FailingFiles() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real(), 1);
  }
  FailingFiles(const FailingFiles&) = delete;
  FailingFiles& operator=(const FailingFiles&) = delete;

  /// From now on the n-th operation fails, counted from 1; 0: none does.
  static void fail_at(int n) { countdown() = n; }
  /// Whether it has failed since.
  static bool has_failed() { return countdown() <= 0; }

 private:
  struct File {
    sqlite3_file base;
    sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  static sqlite3_vfs*& real() {
    static sqlite3_vfs* vfs = nullptr;
    return vfs;
  }
  static int& countdown() {
    static int left = 0;
    return left;
  }
  static bool fails() { return countdown() > 0 && --countdown() == 0; }

  static sqlite3_file* inner(sqlite3_file* file) { return reinterpret_cast<File*>(file)->inner(); }
  template <class... Parameters, class... Arguments>
  static int pass(sqlite3_file* file,
                  int (*sqlite3_io_methods::*method)(sqlite3_file*, Parameters...),
                  Arguments... arguments) {
    return (inner(file)->pMethods->*method)(inner(file), arguments...);
  }

  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out) {
    file->pMethods = nullptr;
    if (fails()) return SQLITE_CANTOPEN;
    const int result = real()->xOpen(real(), name, inner(file), flags, out);
    if (result == SQLITE_OK) file->pMethods = methods();
    return result;
  }

  static const sqlite3_io_methods* methods() {
    using Methods = sqlite3_io_methods;
    static const Methods all = [] {
      Methods it{};
      it.iVersion = 1;
      it.xClose = [](sqlite3_file* file) { return pass(file, &Methods::xClose); };
      it.xRead = [](sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
        return fails() ? SQLITE_IOERR_READ : pass(file, &Methods::xRead, to, size, at);
      };
      it.xWrite = [](sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
        return fails() ? SQLITE_FULL : pass(file, &Methods::xWrite, from, size, at);
      };
      it.xTruncate = [](sqlite3_file* file, sqlite3_int64 size) {
        return fails() ? SQLITE_IOERR_TRUNCATE : pass(file, &Methods::xTruncate, size);
      };
      it.xSync = [](sqlite3_file*, int) { return fails() ? SQLITE_IOERR_FSYNC : SQLITE_OK; };
      it.xFileSize = [](sqlite3_file* file, sqlite3_int64* size) {
        return fails() ? SQLITE_IOERR_FSTAT : pass(file, &Methods::xFileSize, size);
      };
      it.xLock = [](sqlite3_file* file, int level) {
        return fails() ? SQLITE_IOERR_LOCK : pass(file, &Methods::xLock, level);
      };
      it.xUnlock = [](sqlite3_file* file, int level) {
        return pass(file, &Methods::xUnlock, level);
      };
      it.xCheckReservedLock = [](sqlite3_file* file, int* is) {
        return pass(file, &Methods::xCheckReservedLock, is);
      };
      it.xFileControl = [](sqlite3_file* file, int operation, void* argument) {
        return pass(file, &Methods::xFileControl, operation, argument);
      };
      it.xSectorSize = [](sqlite3_file* file) { return pass(file, &Methods::xSectorSize); };
      it.xDeviceCharacteristics = [](sqlite3_file* file) {
        return pass(file, &Methods::xDeviceCharacteristics);
      };
      return it;
    }();
    return &all;
  }

  sqlite3_vfs vfs_{};
};

/// Does some work on a database and returns the configurations whose recording was acknowledged.
std::set<std::string> record_some(const fs::path& path) {
  std::set<std::string> acknowledged;
  try {
    Store store(path, kReadWrite);
    const std::int64_t run = store.begin_run(example_subject(), example_run("new"));
    for (const std::string config : {R"({"A":1})", R"({"A":2})"}) {
      store.begin_attempt(run, {.problem = "4096,4096,4096", .config_json = config});
      store.record_trial(run, example_trial(config), 0);
      acknowledged.insert(config);
    }
    record_lone_final(store, run, example_best(R"({"A":1})"));
    acknowledged.insert("final");
  } catch (const Error&) {  // as it should be: an Error, nothing else
  }
  return acknowledged;
}

std::set<std::string> recorded(const Store& store) {
  std::set<std::string> recorded;
  if (const auto run = store.run("new")) {
    for (const StoredTrial& trial : store.trials(run->id)) {
      recorded.insert(trial.trial.config_json);
    }
  }
  for (const StoredBest& best : store.bests({})) {
    if (best.best.run_uuid == "new") recorded.insert("final");
  }
  return recorded;
}

/// Fails the 1st, 2nd, … operation of work on a database with this content until none is left.
void fail_every_operation(const std::string& content) {
  const FailingFiles files;
  int n = 1;
  for (bool failed = true; failed; ++n) {
    const TemporaryDirectory directory;
    const fs::path path = directory.path() / "tune.sqlite";
    if (!content.empty()) write_file(path, content);
    FailingFiles::fail_at(n);
    const std::set<std::string> acknowledged = record_some(path);
    failed = FailingFiles::has_failed();
    FailingFiles::fail_at(0);
    Store store(path, kReadWrite);  // which checks every page and row
    EXPECT_THAT(recorded(store), testing::IsSupersetOf(acknowledged)) << "operation " << n;
    const std::int64_t next = store.begin_run(example_subject(), example_run("next"));
    store.record_trial(next, example_trial(), 0);
    EXPECT_THAT(store.trials(next), testing::SizeIs(1)) << "operation " << n;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(n, 100);
}

std::string filled_database() {
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "tune.sqlite";
  {
    Store store(path, kReadWrite);
    fill_every_table(store);
  }
  return read_file(path, 1 << 24);
}

TEST(FailingDisk, LosesNothingAcknowledgedWhicheverOperationOfAFirstRunFails) {
  fail_every_operation("");
}

TEST(FailingDisk, LosesNothingAcknowledgedWhicheverOperationOfALaterRunFails) {
  fail_every_operation(filled_database());
}

TEST(FlippedBit, IsNoticedOrHarmless) {
  constexpr int kFlips = 300;
  const TemporaryDirectory directory;
  const fs::path path = directory.path() / "tune.sqlite";
  const std::string intact = filled_database();
  write_file(path, intact);
  const std::string original = everything(Store(path, kReadOnly));
  std::mt19937_64 random(20261121);
  int noticed = 0;
  for (int i = 0; i < kFlips; ++i) {
    const std::uint64_t bit = random() % (8 * intact.size());
    std::string flipped = intact;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    write_file(path, flipped);
    try {
      const Store store(path, i % 2 == 0 ? kReadOnly : kReadWrite);
      EXPECT_EQ(everything(store), original) << "bit " << bit;
    } catch (const Error&) {
      ++noticed;
    }
  }
  EXPECT_GT(noticed, kFlips / 10);
}

}  // namespace
}  // namespace tuner::store
