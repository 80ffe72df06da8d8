// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/database_path.hpp"

#include "tuner/core/environment.hpp"
#include "tuner/core/error.hpp"

namespace tuner::store {

std::filesystem::path default_database() {
  namespace fs = std::filesystem;
  if (fs::path named = environment_variable("TUNER_DB"); !named.empty()) return named;
  // A relative one would lead into the working directory.
  const fs::path data = environment_variable("XDG_DATA_HOME");
  if (data.is_absolute()) return data / "tune" / "tune.db";
  const fs::path home = environment_variable("HOME");
  if (!home.is_absolute()) {
    throw Error(
        ErrorCode::usage,
        "there is no path for the database: HOME is not set; name one with --db or in TUNER_DB");
  }
  return home / ".local" / "share" / "tune" / "tune.db";
}

}  // namespace tuner::store
