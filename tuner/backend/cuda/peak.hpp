// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <optional>

namespace tuner::backend {

/// Operations that one multiprocessor can finish in a cycle on inputs of this type with results
/// that are right: by the units of that type or its tensor cores, dense; for float also by tensor
/// cores that emulate it in three TF32 products. Twice the multiply-adds of NVIDIA's architecture
/// white papers. Absent for a compute capability (90 for 9.0) that is not in them yet. An integer's
/// of 16 bits and more are those of float, which no integer unit exceeds.
[[nodiscard]] std::optional<double> flops_per_cycle(std::int64_t compute_capability,
                                                    family::ElementType type);

/// Of a GPU at its highest clock. Asks the CUDA runtime, without making a context.
[[nodiscard]] std::optional<Peak> cuda_peak(int ordinal, const space::DeviceAttributes& device,
                                            family::ElementType type);

}  // namespace tuner::backend
