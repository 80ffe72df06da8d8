// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/dispatcher.hpp"

#include <filesystem>
#include <string>

namespace tuner::gemm_benchmark {

/// What a database knows of GEMM on a device, as if the library had never been timed beside it:
/// then a dispatcher asks the library last. Throws Error as Store and catalogue do.
[[nodiscard]] Table kernels_alone(const std::filesystem::path& database, const std::string& device);

}  // namespace tuner::gemm_benchmark
