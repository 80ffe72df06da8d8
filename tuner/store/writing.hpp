// SPDX-License-Identifier: Apache-2.0
// Internal to store: what a transaction writes.
#pragma once

#include "tuner/store/interning.hpp"
#include "tuner/store/records.hpp"

#include <cstdint>

namespace tuner::store {

/// Writes a best in place of the one of the same key, if any, that is as `verified` as it.
void store_best(const Database& database, const RunKey& run, std::int64_t problem,
                const BestRecord& best);

/// As Store::begin_attempt.
void store_attempt(const Database& database, const RunKey& run, const AttemptRecord& attempt);

/// What became of an imported best.
enum class Import { added, kept };

/// Writes a best of elsewhere, `verified` off and `origin` set, unless what is here for its key is
/// verified and as fast, or not verified either and not older. Its run is added as `imported`
/// when it is not here.
Import import_best(const Database& database, const StoredBest& stored);

}  // namespace tuner::store
