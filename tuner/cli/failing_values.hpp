// SPDX-License-Identifier: Apache-2.0
// Which values of parameters the failures of a run have in common.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/store/records.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tuner::cli {

/// A value of a parameter with which no trial ended ok.
struct FailingValue {
  std::string parameter;
  std::string value;         ///< as JSON
  std::uint64_t trials = 0;  ///< at least 2

  [[nodiscard]] bool is_in(const Json& config) const;
};

/// Of the trials of a run; those of the most trials first. None where no trial ended ok: every
/// value would be one.
[[nodiscard]] std::vector<FailingValue> failing_values(std::span<const store::StoredTrial> trials);

}  // namespace tuner::cli
