// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/cuda/driver.hpp"
#include "tuner/backend/executor.hpp"

namespace tuner::backend {

/// As Executor::record, in the current context. The driver must outlive what is returned.
[[nodiscard]] Expected<StreamWork, Failure> record_work(const DriverApi& driver,
                                                        const StreamWork& work);

}  // namespace tuner::backend
