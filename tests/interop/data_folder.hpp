// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace tuner::interop {

inline const std::filesystem::path kData = std::filesystem::path(TUNER_TEST_DATA) / "interop";

}  // namespace tuner::interop
