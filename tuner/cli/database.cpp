// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/database.hpp"

#include "tuner/core/error.hpp"

#include <cstdlib>

namespace tuner::cli {

std::filesystem::path database_path(const CommonOptions& common) {
  namespace fs = std::filesystem;
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (common.database) return *common.database;
  if (const fs::path named = variable("TUNER_DB"); !named.empty()) return named;
  if (fs::exists("tune.db")) return "tune.db";
  if (const fs::path data = variable("XDG_DATA_HOME"); !data.empty())
    return data / "tune" / "tune.db";
  const fs::path home = variable("HOME");
  if (home.empty()) {
    throw Error(ErrorCode::usage,
                "there is no place for the database: HOME is not set; name one with --db");
  }
  return home / ".local" / "share" / "tune" / "tune.db";
}

Store open_database(const CommonOptions& common, Store::Mode mode) {
  return {database_path(common), mode,
          common.trust_database ? Store::Trust::any_file : Store::Trust::own_files};
}

}  // namespace tuner::cli
