// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/store/store.hpp"

#include <filesystem>

namespace tuner::cli {

/// Where the results are kept: --db, else the database of applications (store::default_database()).
[[nodiscard]] std::filesystem::path database_path(const CommonOptions& common);

/// The database that the options name. Throws as Store's constructor.
[[nodiscard]] store::Store open_database(const CommonOptions& common, store::Store::Mode mode);

}  // namespace tuner::cli
