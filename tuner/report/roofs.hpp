// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/report/history.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tuner::report {

/// Bytes per nanosecond between a device model and its memory, by NVIDIA's data sheets: "NVIDIA
/// H200" 4,800. None for one that is not listed.
[[nodiscard]] std::optional<double> nominal_bytes_per_ns(std::string_view device);

/// The highest rates of a device, in work per nanosecond.
struct Roofs {
  std::map<std::string, double> flops;  ///< measured, by element type
  double bytes = 0;  ///< measured, at most the nominal rate; 0 where there is no such work
  /// What reached each of them: "gemm_tiled at 16384×16384×16384, back to back".
  std::map<std::string, std::string> flops_from;
  std::string bytes_from;
  /// Nominal, by element type, at the highest clock of a final round; empty where the clock or the
  /// architecture is not known.
  std::map<std::string, double> nominal_flops;
  double clock_mhz = 0;
};
/// For a page of this family, of all kernels of the device and of the library beside them, by
/// either measure of a size: power limits the rate of long kernels back to back. Results whose type
/// is not known, as imported ones without a space file, may be of any type: only the family's own
/// count.
[[nodiscard]] Roofs roofs_of(std::span<const KernelHistory> kernels, std::string_view family,
                             const space::DeviceInfo& device);

}  // namespace tuner::report
