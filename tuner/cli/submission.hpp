// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/select/catalogue.hpp"

#include <string>
#include <vector>

namespace tuner::cli {

/// What stands against results of another machine in a table that others get, a sentence each, with
/// the first sizes that it is about: measured beside other processes, of a large or unknown spread,
/// not verified on the card, by another version of the program, of kernels that this program does
/// not include.
[[nodiscard]] std::vector<std::string> objections_to(const select::Catalogue& known);

}  // namespace tuner::cli
