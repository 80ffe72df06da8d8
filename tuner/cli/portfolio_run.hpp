// SPDX-License-Identifier: Apache-2.0
// The portfolios of one family on one device, one for each of the types that its sizes name.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/size_distribution.hpp"
#include "tuner/select/portfolio.hpp"
#include "tuner/session/portfolio_times.hpp"
#include "tuner/store/store.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tuner::cli {

/// A portfolio with the times that it was chosen by, or extended by.
struct FamilyPortfolio {
  std::string types;                          ///< select::types_of its sizes
  std::vector<family::WeightedSize> sizes;    ///< at which all candidates were timed
  select::TimeMatrix matrix;                  ///< of all candidates at these
  std::vector<session::FurtherSize> further;  ///< at which members were timed
  select::ChosenPortfolio chosen;
  std::optional<double> left_out_loss;
  std::size_t known_sizes = 0;  ///< of an extended one: at which its members were timed before
};

struct PortfolioRun {
  space::DeviceInfo device;
  std::size_t wanted = 0;  ///< sizes
  session::PortfolioTimes times;
  std::vector<FamilyPortfolio> portfolios;
};

/// Times candidates and stores what was chosen of them; `until` is when the command's time is up.
/// Nothing is chosen once `stop` says so. Throws Error(usage) for more members than there can be
/// candidates, Error(no_valid_config) where nothing could be timed.
[[nodiscard]] PortfolioRun run_portfolio(const CommonOptions& common,
                                         const PortfolioOptions& options,
                                         const family::Family& family,
                                         std::chrono::steady_clock::time_point until,
                                         const std::function<bool()>& stop);

/// Times the members of the family's portfolios, which the database or the installed table has for
/// the device, at further sizes, and stores the portfolios with those that are finished, also once
/// `stop` says so. Throws Error(usage) where
/// there is no portfolio, or none that was measured with the present code and versions.
[[nodiscard]] PortfolioRun extend_portfolios(const CommonOptions& common,
                                             const PortfolioOptions& options,
                                             const family::Family& family,
                                             std::chrono::steady_clock::time_point until,
                                             const std::function<bool()>& stop);

/// The document "tune.portfolio/1".
[[nodiscard]] Json portfolio_json(const family::Family& family, const PortfolioRun& run);

/// For people: a table for each portfolio and what it is worth.
void print_portfolio(const CommonOptions& common, const family::Family& family,
                     const PortfolioRun& run);

}  // namespace tuner::cli
