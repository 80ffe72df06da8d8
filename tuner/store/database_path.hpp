// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tuner::store {

/// The default database: $TUNER_DB, else $XDG_DATA_HOME/tune/tune.db
/// (~/.local/share/tune/tune.db); never the working directory, unless TUNER_DB leads there. Throws
/// Error(usage) when HOME is not set either, and in a privileged program (environment.hpp).
[[nodiscard]] std::filesystem::path default_database();

}  // namespace tuner::store
