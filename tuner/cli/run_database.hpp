// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/store/local_copy.hpp"
#include "tuner/store/store.hpp"

#include <memory>
#include <optional>

namespace tuner::cli {

/// The database of a run. Of one on a network file system, unless it is to be trusted, it is a
/// local copy, which is saved after each size; stderr says so.
class RunDatabase {
 public:
  /// Throws as open_database and LocalCopy do.
  explicit RunDatabase(const CommonOptions& common);

  [[nodiscard]] store::Store& store() { return *store_; }
  /// Saves the copy, if it is one. Throws as LocalCopy::save.
  void save();
  /// Whatever follows a run in order that it is saved after each size; null where there is no need.
  [[nodiscard]] std::unique_ptr<session::Observer> saver();

 private:
  std::optional<store::LocalCopy> copy_;
  std::optional<store::Store> store_;
};

}  // namespace tuner::cli
