// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database_state.hpp"

#include "tuner/store/database_file.hpp"

#include <fmt/format.h>

#include <chrono>
#include <sys/stat.h>
#include <system_error>

namespace tuner::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// More than the tick by which a kernel dates files.
constexpr auto kTick = 50ms;

/// SQLite empties or removes the journal when a transaction is over.
bool is_at_rest(const fs::path& path) {
  for (const char* suffix : {"-journal", "-wal"}) {
    std::error_code absent;
    const auto bytes = fs::file_size(path.string() + suffix, absent);
    if (!absent && bytes > 0) return false;
  }
  return true;
}

std::chrono::nanoseconds since_epoch(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::optional<std::string> database_state(const fs::path& path) {
  const fs::path file = prepare_file(path, Store::Mode::read_only, Store::Trust::own_files).path;
  // Not opened: closing it would drop the locks of this process's other connections to it.
  struct stat status {};
  if (!is_at_rest(file) || ::stat(file.c_str(), &status) != 0) return std::nullopt;
  const auto changed = since_epoch(status.st_ctim);
  if (std::chrono::system_clock::now().time_since_epoch() - changed < kTick) return std::nullopt;
  return fmt::format("{}/{} {} {} {}", status.st_dev, status.st_ino, status.st_size,
                     since_epoch(status.st_mtim).count(), changed.count());
}

}  // namespace tuner::store
