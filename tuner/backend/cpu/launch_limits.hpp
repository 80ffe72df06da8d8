// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/family/candidate.hpp"

namespace tuner::backend {

/// The limits of a launch on a GPU, kept here too so that a configuration fails in both places:
/// launch_error when the geometry is beyond them.
[[nodiscard]] Expected<void, Failure> check_geometry(const family::Geometry& geometry);

}  // namespace tuner::backend
