// SPDX-License-Identifier: Apache-2.0
// How much of a matrix of cases a run takes, as matrix.py: with TUNER_ALL_TESTS=1 all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace tuner::testing_support {

inline bool takes_all() {
  const char* const all = std::getenv("TUNER_ALL_TESTS");
  return all != nullptr && std::string_view(all) == "1";
}

/// All cases, or the first and every third after it, in their order. In the second row of a matrix
/// the second and every third after it, and so on: three rows or more have each case once.
template <class Case>
std::vector<Case> part(const std::vector<Case>& cases, std::size_t row = 0) {
  const std::size_t step = takes_all() ? 1 : std::clamp<std::size_t>(cases.size(), 1, 3);
  std::vector<Case> taken;
  for (std::size_t i = row % step; i < cases.size(); i += step) taken.push_back(cases[i]);
  return taken;
}

}  // namespace tuner::testing_support
