// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/store/records.hpp"

namespace tuner {

/// The row a kernel of a family has in the database.
[[nodiscard]] KernelRecord kernel_record(const Family& family, const Kernel& kernel);

}  // namespace tuner
