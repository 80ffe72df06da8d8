// SPDX-License-Identifier: Apache-2.0
// A trial as the report holds hundreds of thousands of them: without a text of its own.
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/core/time_summary.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tuner::report {

/// One candidate at one size.
struct ReportedTrial {
  std::uint32_t run = 0;     ///< which of SizeHistory::searches
  std::uint32_t number = 0;  ///< among the trials of the run at this size, from 1
  double elapsed_s = 0;      ///< since the run's first trial at this size began
  std::uint32_t config = 0;  ///< of KernelHistory::configs
  Outcome outcome = Outcome::ok;
  int registers = 0;
  std::uint64_t shared_bytes = 0, local_bytes = 0;
  double own_s = 0;                                 ///< spent on verifying and timing it
  std::optional<TimeSummary> time = {};             ///< only when `ok`
  std::shared_ptr<const std::string> message = {};  ///< why it is not `ok`; null when it is
};

}  // namespace tuner::report
