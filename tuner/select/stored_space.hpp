// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/space.hpp"
#include "tuner/store/records.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tuner {

/// Whether a kernel came with its space file: an imported one does not.
[[nodiscard]] bool has_space(const KernelRecord& kernel);

/// The dimensions in a stored kernel's space file. This and what follows throws Error(failure) when
/// the stored text is no space file.
[[nodiscard]] Dimensions stored_dims(const KernelRecord& kernel);

/// The names of all kernels in it, in its order.
[[nodiscard]] std::vector<std::string> stored_kernel_names(const KernelRecord& kernel);

/// The kernel's space on a device at a size, which has a number for every dimension.
[[nodiscard]] Space stored_space(const KernelRecord& kernel, const DeviceAttributes& device,
                                 std::span<const std::int64_t> size);

}  // namespace tuner
