// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace tuner::store {

/// Of the SQLite library that is loaded: "3.40.1".
[[nodiscard]] std::string_view sqlite_version();

}  // namespace tuner::store
