// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"

namespace tuner::cli {

/// Lists the sizes with a best configuration, of the kernel, family and device that are named:
/// `tune query` without a size. Throws Error(nothing_found) where there is none.
int list_tuned(const CommonOptions& common, const QueryOptions& options);

}  // namespace tuner::cli
