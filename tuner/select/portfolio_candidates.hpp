// SPDX-License-Identifier: Apache-2.0
// The members of a stored portfolio as answers for a size that was not tuned.
#pragma once

#include "tuner/select/gain_model.hpp"
#include "tuner/select/nearest.hpp"
#include "tuner/store/records.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tuner::select {

/// The portfolio of a family for the types of the asked size; null where there is none.
[[nodiscard]] const store::PortfolioRecord* portfolio_for(const Catalogue& catalogue,
                                                          std::string_view family,
                                                          const std::vector<AskedKernel>& asked);

/// The members that were timed at a size of the portfolio of this kind of problem and are valid at
/// the asked one, those first that are most certain to be faster than the library, or where there
/// is none than the others; last those that were timed nowhere near. Points into `asked`.
[[nodiscard]] Nearest portfolio_candidates(const std::vector<AskedKernel>& asked,
                                           const space::DeviceAttributes& device,
                                           const store::PortfolioRecord& portfolio,
                                           const GainParameters& parameters = {});

}  // namespace tuner::select
