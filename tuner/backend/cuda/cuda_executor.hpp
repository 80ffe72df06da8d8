// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"

#include <memory>

namespace tuner::backend {

/// A GPU for an application's own launches, through the driver: kernels run in whatever context is
/// current, or in the device's primary one where none is. Throws Error(no_device) when there is no
/// such GPU or a library is missing.
[[nodiscard]] std::unique_ptr<Executor> open_cuda_executor(int ordinal);

}  // namespace tuner::backend
