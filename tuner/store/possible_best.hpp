// SPDX-License-Identifier: Apache-2.0
// Internal to store: whether numbers from elsewhere can have been measured.
#pragma once

#include "tuner/store/records.hpp"

#include <optional>
#include <string>

namespace tuner::store {

/// Why no device can have measured such a best: times below 1 ns, rates above 1e18/s, ratios beyond
/// one in a million or outside of their interval, dates before 2007 or after 2099, texts of more
/// than 1,024 bytes. None where it may be true.
[[nodiscard]] std::optional<std::string> why_impossible(const StoredBest& stored);

}  // namespace tuner::store
