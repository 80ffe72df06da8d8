// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/family/candidate.hpp"

#include <cstddef>

namespace tuner::backend {

/// The tensor map of a tensor in a buffer, as kernels on the host read it: a HostTensorMap. It
/// begins at the multiple of 16 bytes before the tensor. A launch_error for what the driver refuses
/// too (strides and boxes that are no multiples of 16 bytes, boxes wider than their swizzle), and
/// for more extents than HostTensorMap has.
[[nodiscard]] Expected<TensorMapValue, Failure> host_tensor_map(const family::TensorLayout& layout,
                                                                std::byte* buffer);

}  // namespace tuner::backend
