// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/source/source.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::source {

/// Whether a header of this name belongs to a framework that calls kernels: PyTorch (torch/, ATen/,
/// c10/), pybind11 or NVTX. Their code is for the host; kernels are compiled with
/// framework_declarations() in place of all of them.
[[nodiscard]] bool is_framework_header(std::string_view name);

/// The names of the headers that a source and its headers include and that are no headers of the
/// source, each once.
[[nodiscard]] std::vector<std::string> foreign_includes(const KernelSource& source);

/// What kernels use of PyTorch's headers: macros such as C10_HOST_DEVICE and CUDA_KERNEL_LOOP,
/// warp exchange, acc_type; and where a source or an entry names them, c10::Half and c10::BFloat16,
/// which are of the layout of __half and __nv_bfloat16 and compute in float. The namespaces of the
/// frameworks are declared, so that `using namespace at` holds.
[[nodiscard]] std::string framework_declarations(const KernelSource& source,
                                                 std::span<const std::string> entries = {});

}  // namespace tuner::source
