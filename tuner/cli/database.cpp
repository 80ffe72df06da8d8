// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/database.hpp"

#include "tuner/cli/output.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/store/database_path.hpp"

#include <mutex>
#include <optional>

namespace tuner::cli {

namespace {

/// The database of the working directory. It may come with a clone of another user's files, so its
/// use is reported once, also with --quiet. None where the environment names another, or must not
/// direct the program.
std::optional<std::filesystem::path> local_database() {
  constexpr const char* kLocal = "tune.db";
  if (is_privileged() || !environment_variable("TUNER_DB").empty()) return std::nullopt;
  std::error_code ignored;
  if (!std::filesystem::exists(kLocal, ignored)) return std::nullopt;
  static std::once_flag told;
  std::call_once(told, [] { tell("database: ./tune.db in this folder\n"); });
  return kLocal;
}

}  // namespace

std::filesystem::path database_path(const CommonOptions& common) {
  if (common.database) return *common.database;
  if (auto local = local_database()) return *std::move(local);
  return store::default_database();
}

store::Store open_database(const CommonOptions& common, store::Store::Mode mode) {
  return {database_path(common), mode,
          common.trust_database ? store::Store::Trust::any_file : store::Store::Trust::own_files};
}

}  // namespace tuner::cli
