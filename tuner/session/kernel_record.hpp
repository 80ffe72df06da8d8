// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/records.hpp"

namespace tuner::session {

/// The row a kernel of a family has in the database.
[[nodiscard]] store::KernelRecord kernel_record(const family::Family& family,
                                                const family::Kernel& kernel);

}  // namespace tuner::session
