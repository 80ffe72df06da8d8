// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/database.hpp"

#include "tuner/cli/output.hpp"
#include "tuner/core/environment.hpp"
#include "tuner/store/database_path.hpp"

#include <mutex>

namespace tuner::cli {
namespace {

/// Says once that a database of the working directory is not used: applications do not open it
/// either, and it may come with a clone of another user's files.
void tell_of_local_database() {
  constexpr const char* kLocal = "tune.db";
  if (is_privileged() || !environment_variable("TUNER_DB").empty()) return;
  std::error_code ignored;
  if (!std::filesystem::exists(kLocal, ignored)) return;
  static std::once_flag told;
  std::call_once(told, [] { tell("./tune.db is not used: --db tune.db or TUNER_DB names it\n"); });
}

}  // namespace

std::filesystem::path database_path(const CommonOptions& common) {
  if (common.database) return *common.database;
  tell_of_local_database();
  return store::default_database();
}

store::Store open_database(const CommonOptions& common, store::Store::Mode mode) {
  return {database_path(common), mode,
          common.trust_database ? store::Store::Trust::any_file : store::Store::Trust::own_files};
}

}  // namespace tuner::cli
