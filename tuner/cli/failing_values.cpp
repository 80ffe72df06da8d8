// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/failing_values.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace tuner::cli {

bool FailingValue::is_in(const Json& config) const {
  const auto found = config.find(parameter);
  return found != config.end() && found->dump() == value;
}

std::vector<FailingValue> failing_values(std::span<const store::StoredTrial> trials) {
  struct Count {
    std::uint64_t ok = 0, failed = 0;
  };
  std::map<std::pair<std::string, std::string>, Count> counts;
  bool any_ok = false;
  for (const store::StoredTrial& stored : trials) {
    const bool is_ok = stored.trial.outcome == Outcome::ok;
    any_ok = any_ok || is_ok;
    const Json config = parse_json(stored.trial.config_json, "a stored configuration");
    for (const auto& [parameter, value] : config.items()) {
      Count& count = counts[{parameter, value.dump()}];
      is_ok ? ++count.ok : ++count.failed;
    }
  }
  std::vector<FailingValue> found;
  if (!any_ok) return found;
  for (const auto& [value, count] : counts) {
    if (count.ok == 0 && count.failed > 1) {
      found.push_back({.parameter = value.first, .value = value.second, .trials = count.failed});
    }
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &FailingValue::trials);
  return found;
}

}  // namespace tuner::cli
