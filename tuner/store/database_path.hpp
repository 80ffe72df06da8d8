// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tuner::store {

/// Where results are kept when nobody says otherwise: $TUNER_DB, else ./tune.db when it exists,
/// else $XDG_DATA_HOME/tune/tune.db (~/.local/share/tune/tune.db). Throws Error(usage) when HOME is
/// not set either.
[[nodiscard]] std::filesystem::path default_database();

}  // namespace tuner::store
