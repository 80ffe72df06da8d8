// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/store/store.hpp"

#include <filesystem>

namespace tuner::cli {

/// Where the results are kept: --db, else $TUNER_DB, else ./tune.db when it exists, else
/// $XDG_DATA_HOME/tune/tune.db (~/.local/share/tune/tune.db).
[[nodiscard]] std::filesystem::path database_path(const CommonOptions& common);

/// The database that the options name. Throws as Store's constructor.
[[nodiscard]] store::Store open_database(const CommonOptions& common, store::Store::Mode mode);

}  // namespace tuner::cli
