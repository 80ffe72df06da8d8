// SPDX-License-Identifier: Apache-2.0
// What the stages return, as the rows of the database hold it.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/records.hpp"
#include "tuner/worker/device_worker.hpp"

#include <string>

namespace tuner::session {

/// The row a kernel of a family has in the database.
[[nodiscard]] store::KernelRecord kernel_record(const family::Family& family,
                                                const family::Kernel& kernel);

/// Of a new run.
[[nodiscard]] std::string new_uuid();

/// Takes the outcome, the times and the resources of an evaluation into a trial: of each resource
/// what the step uses that uses most of it. Of shared memory a step uses its own and, where it was
/// timed, what its launch asks for at the size that `values` hold.
[[nodiscard]] store::TrialRecord with_evaluation(store::TrialRecord trial,
                                                 const worker::EvaluatedCandidate& evaluation,
                                                 const family::Kernel& kernel,
                                                 const space::ExpressionValues& values);

/// A trial that ended before anything ran.
[[nodiscard]] store::TrialRecord with_failure(store::TrialRecord trial, const Failure& failure);

}  // namespace tuner::session
