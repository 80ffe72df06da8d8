// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/session/session.hpp"

namespace tuner::cli {

/// Sets how long a run searches a size and what its final rounds measure: what --effort says, less
/// what --max-evals, --patience, --energy and --strategy exhaustive say. Throws Error(usage) for a
/// word that is no effort.
void set_effort(session::RunPlan& plan, const TuneOptions& options);

}  // namespace tuner::cli
