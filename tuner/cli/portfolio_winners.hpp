// SPDX-License-Identifier: Apache-2.0
// Tuned sizes as a source of members for a portfolio that is extended.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/store.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tuner::cli {

/// Adds the fastest configurations of the device's tuned sizes to the portfolios that have a type
/// of one of `sizes`, until each has `members`: those that gain most over the library first. Throws
/// Error(usage) where every portfolio has as many members already.
void add_winners(std::vector<store::PortfolioRecord>& portfolios, const family::Family& family,
                 std::span<const family::WeightedSize> sizes, const store::Store& store,
                 const space::DeviceInfo& device, std::uint64_t members);

}  // namespace tuner::cli
