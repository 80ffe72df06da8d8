// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/records.hpp"

#include <string>

namespace tuner::session {

/// The row a kernel of a family has in the database.
[[nodiscard]] store::KernelRecord kernel_record(const family::Family& family,
                                                const family::Kernel& kernel);

/// Of a new run.
[[nodiscard]] std::string new_uuid();

}  // namespace tuner::session
