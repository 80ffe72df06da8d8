// SPDX-License-Identifier: Apache-2.0
// A database with rows in every table, and a way to change them behind the program's back.
#pragma once

#include "tuner/store/store.hpp"

#include <filesystem>
#include <string>

namespace tuner::store {

/// Adds a few dozen rows, some to every table; the second run is still running.
void fill_every_table(Store& store);

/// Everything that the public interface reads, as text: equal for equal databases.
[[nodiscard]] std::string everything(const Store& store);

/// Changes a database as a flipped bit would: the rows keep the checksums that they had.
void tamper(const std::filesystem::path& path, const std::string& table, const std::string& change);

}  // namespace tuner::store
