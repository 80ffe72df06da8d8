// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/sweep_leads.hpp"

#include <algorithm>

namespace tuner::session {

std::vector<Lead> leads(const SweepCurve& one, const SweepCurve& other) {
  std::vector<Lead> found;
  bool interrupted = true;
  for (std::size_t i = 0; i < std::min(one.times_ns.size(), other.times_ns.size()); ++i) {
    const auto a = one.times_ns[i], b = other.times_ns[i];
    if (!a || !b) {
      interrupted = true;
      continue;
    }
    const std::string& faster = *b < *a ? other.name : one.name;
    if (interrupted || found.back().faster != faster) {
      found.push_back({.faster = faster, .first = i, .last = i});
    }
    found.back().last = i;
    interrupted = false;
  }
  return found;
}

}  // namespace tuner::session
