// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/select/catalogue.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// What stands against results of another machine in a table that others get, a sentence each, with
/// the first sizes that it is about: measured beside other processes, of a large or unknown spread,
/// not verified on the card, by another version of the program, of kernels that this program does
/// not include.
[[nodiscard]] std::vector<std::string> objections_to(const select::Catalogue& known);

/// Numbers from the lowest to the highest.
struct Range {
  std::optional<double> low = {}, high = {};

  void add(const std::optional<double>& value);
};

/// The clocks at which the results of a table were timed, and what limits them.
struct TableClocks {
  Range mhz, max_mhz, power_limit_w;
  std::size_t unknown = 0;  ///< results without a clock
  std::size_t results = 0;
  /// A sentence on results that were timed far below the highest clock of their card, with the
  /// first sizes that it is about; empty where there are none.
  std::string warning;
};
[[nodiscard]] TableClocks clocks_of(const select::Catalogue& known);

}  // namespace tuner::cli
