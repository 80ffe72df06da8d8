// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace tuner::report {

/// Bytes per nanosecond between a device model and its memory, by NVIDIA's data sheets: "NVIDIA
/// H200" 4,800. None for one that is not listed.
[[nodiscard]] std::optional<double> nominal_bytes_per_ns(std::string_view device);

}  // namespace tuner::report
