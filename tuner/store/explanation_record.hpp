// SPDX-License-Identifier: Apache-2.0
// What `tune explain` found, as it is stored.
#pragma once

#include "tuner/counters/bound.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::store {

/// A time beside that of the best configuration, in the same rounds.
struct ComparedTime {
  bool operator==(const ComparedTime&) const = default;

  double median_ns = 0;
  double ratio_to_best = 1;
  double ratio_low = 1, ratio_high = 1;  ///< 95 % interval
};

/// A contender of an explanation.
struct ExplainedRecord {
  std::string role;                        ///< "best", "neighbour", "default", "library"
  std::string config_json;                 ///< empty: the library
  std::string parameter = {};              ///< of a neighbour: the one that differs
  std::optional<ComparedTime> timed = {};  ///< absent: it could not be timed
  counters::Profile profile = {};          ///< when read: without the occupancy
};

/// Why the best configuration of a size is the fastest.
struct ExplanationRecord {
  std::string problem;                ///< canonical size
  std::string recorded_at = {};       ///< UTC, ISO 8601; empty in a write: now
  std::string counters_problem = {};  ///< why there are no counters, or not those of all
  std::optional<double> peak_flops_per_s = {}, peak_bytes_per_s = {};  ///< of the device then
  std::vector<ExplainedRecord> contenders;                             ///< the best one first
};

}  // namespace tuner::store
