// SPDX-License-Identifier: Apache-2.0
// Internal to store: the journal of attempts.
#pragma once

#include "tuner/store/interning.hpp"
#include "tuner/store/records.hpp"

namespace tuner::store {

/// As Store::begin_attempt, within a transaction.
void store_attempt(const Database& database, const RunKey& run, const AttemptRecord& attempt);

}  // namespace tuner::store
