// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/store/records.hpp"

#include <string>

namespace tuner::cli {

/// The `tune bench …` command, as typed in the same folder as the run's own, that shows again how a
/// trial of the run ended: same configuration, size, inputs, device and deadlines. Empty when the
/// run's command is not known.
[[nodiscard]] std::string bench_command(const store::RunRecord& run,
                                        const store::TrialRecord& trial);

/// The space file of a run, as typed; empty when the run's command is not known.
[[nodiscard]] std::string space_file_of(const store::RunRecord& run);

}  // namespace tuner::cli
