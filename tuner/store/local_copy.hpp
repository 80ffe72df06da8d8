// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/file.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace tuner::store {

/// A copy, on a local disk, of a database that lies on a network file system, whose locks cannot be
/// relied on: for one run, which saves it there again and again. Used from one thread at a time.
class LocalCopy {
 public:
  /// The network file system that a database is on, or would be made on; empty: it is local.
  [[nodiscard]] static std::string network_of(const std::filesystem::path& path);

  /// Copies the database, if it is there, into a temporary directory. Throws Error(usage) when
  /// others own it or may write it, Error(failure) when it cannot be read.
  explicit LocalCopy(std::filesystem::path path);
  LocalCopy(const LocalCopy&) = delete;
  LocalCopy& operator=(const LocalCopy&) = delete;

  [[nodiscard]] std::filesystem::path path() const { return directory_.path() / "tune.db"; }
  /// Replaces the database by the copy, atomically. If another process has changed the database,
  /// the copy is saved beside it from then on; returns, once, a message for the user. Throws
  /// Error(failure) when it cannot be written: the copy is then kept until a later call succeeds.
  [[nodiscard]] std::optional<std::string> save();

 private:
  /// By what a changed file is known: size and time of the last change; none where there is none.
  using State = std::optional<std::pair<std::uintmax_t, std::filesystem::file_time_type>>;
  [[nodiscard]] State state() const;
  void replace() const;

  std::filesystem::path saved_;
  TemporaryDirectory directory_;
  State known_;
};

}  // namespace tuner::store
