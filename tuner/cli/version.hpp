// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <string>

namespace tuner::cli {

/// "tune 0.2.0 (commit 0123abcd, CUDA 13.0.48, SQLite 3.40.1)": what is not known is left out.
[[nodiscard]] std::string version_text();
/// The document "tune.version/1".
[[nodiscard]] Json version_json();

}  // namespace tuner::cli
