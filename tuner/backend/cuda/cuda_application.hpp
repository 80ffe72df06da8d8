// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/application.hpp"

#include <memory>

namespace tuner::backend {

/// As open_application("cuda").
[[nodiscard]] std::unique_ptr<Application> open_cuda_application();

}  // namespace tuner::backend
