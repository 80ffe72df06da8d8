// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database_path.hpp"

#include "tuner/core/error.hpp"

#include <cstdlib>

namespace tuner::store {

std::filesystem::path default_database() {
  namespace fs = std::filesystem;
  const auto variable = [](const char* name) -> fs::path {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  if (const fs::path named = variable("TUNER_DB"); !named.empty()) return named;
  if (fs::exists("tune.db")) return "tune.db";
  if (const fs::path data = variable("XDG_DATA_HOME"); !data.empty())
    return data / "tune" / "tune.db";
  const fs::path home = variable("HOME");
  if (home.empty()) {
    throw Error(ErrorCode::usage,
                "there is no place for the database: HOME is not set; name one with --db or in "
                "TUNER_DB");
  }
  return home / ".local" / "share" / "tune" / "tune.db";
}

}  // namespace tuner::store
