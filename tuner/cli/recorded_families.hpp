// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/recorded_calls.hpp"

#include <map>
#include <vector>

namespace tuner::cli {

/// A family that a command tunes.
struct FamilyToTune {
  family::Family family;
  TuneOptions options;                       ///< with its space file and its lists of sizes
  std::map<space::Size, double> importance;  ///< as importance_of_sizes
  double weight = 1;                         ///< of all its sizes
};

/// The recordings in the suites that the options name.
[[nodiscard]] std::vector<family::RecordedCalls> recordings_of(const TuneOptions& options);

/// The family of --space, or without it those of the suites, with the space files of the project
/// ("spaces/<family>.json", see data_file), those first in which most is expected to be saved.
/// Throws Error(usage) for what is no suite, and for a family without a space file.
[[nodiscard]] std::vector<FamilyToTune> families_to_tune(
    const CommonOptions& common, const TuneOptions& options,
    const std::vector<family::RecordedCalls>& recordings);

}  // namespace tuner::cli
