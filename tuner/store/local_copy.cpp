// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/local_copy.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/store/database_file.hpp"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>

#include <sqlite3.h>

#include <sys/vfs.h>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;

constexpr int kBusyMs = 10'000;

/// A file that is removed at the end of a scope, if it is there.
struct RemovedFile {
  const fs::path& path;

  ~RemovedFile() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

/// By SQLite, so that it is consistent while other processes write.
void copy_database(const fs::path& from, const fs::path& to) {
  try {
    SQLite::Database source(sqlite_name(from), SQLite::OPEN_READONLY, kBusyMs);
    SQLite::Database target(sqlite_name(to), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMs);
    if (SQLite::Backup(target, source).executeStep() != SQLITE_DONE) {
      throw Error(ErrorCode::failure,
                  fmt::format("{}: cannot be copied to {}", from.string(), to.string()));
    }
  } catch (const SQLite::Exception& error) {
    throw Error(ErrorCode::failure, fmt::format("{}: cannot be copied to {}: {}", from.string(),
                                                to.string(), error.what()));
  }
}

}  // namespace

std::string LocalCopy::network_of(const fs::path& path) {
  std::error_code ignored;
  fs::path place = fs::weakly_canonical(path, ignored).parent_path();
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  struct statfs status {};
  if (::statfs(place.c_str(), &status) != 0) return "";
  return std::string(network_file_system(static_cast<std::uint32_t>(status.f_type)).value_or(""));
}

LocalCopy::LocalCopy(fs::path path) : saved_(std::move(path)) {
  if (const auto found = distrust(saved_)) {
    throw Error(ErrorCode::usage, fmt::format("{}: {}: {}, or pass --trust-db", saved_.string(),
                                              found->why, found->remedy));
  }
  require_own_journal(saved_);
  known_ = state();
  if (known_) copy_database(saved_, this->path());
}

LocalCopy::State LocalCopy::state() const {
  std::error_code absent;
  const std::uintmax_t size = fs::file_size(saved_, absent);
  if (absent) return std::nullopt;
  return std::pair(size, fs::last_write_time(saved_, absent));
}

void LocalCopy::replace() const {
  std::error_code error;
  if (saved_.has_parent_path()) error = make_private_directories(saved_.parent_path());
  fs::path beside = saved_;
  beside += "." + random_word();
  if (!error) {
    create_file(beside);
    const RemovedFile removed{beside};  // where it was not renamed
    copy_database(path(), beside);
    fs::rename(beside, saved_, error);
  }
  if (!error) return;
  throw Error(ErrorCode::failure,
              fmt::format("{}: cannot be saved: {}", saved_.string(), error.message()));
}

std::optional<std::string> LocalCopy::save() {
  std::optional<std::string> told;
  if (state() != known_) {
    const fs::path taken = saved_;
    saved_ += "." + random_word();
    told = fmt::format(
        "database: another run has changed {} meanwhile; the results of this one are in {}: `tune "
        "merge` adds them",
        taken.string(), saved_.string());
  }
  try {
    replace();
  } catch (const Error& error) {
    directory_.keep(true);
    throw Error(ErrorCode::failure,
                fmt::format("{}\n  The results are in {}.", error.what(), path().string()));
  }
  directory_.keep(false);
  known_ = state();
  return told;
}

}  // namespace tuner::store
