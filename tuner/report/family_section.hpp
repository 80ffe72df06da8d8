// SPDX-License-Identifier: Apache-2.0
// The first part of the page: which kernel of a family to use at which size, and what to do next.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/report/history.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace tuner::report {

/// The highest rates of a device, in work per nanosecond.
struct Roofs {
  std::map<std::string, double> flops;  ///< measured, by element type
  double bytes = 0;  ///< measured, at most the nominal rate; 0 where there is no such work
  /// Nominal, by element type, at the highest clock of a final round; empty where the clock or the
  /// architecture is not known.
  std::map<std::string, double> nominal_flops;
  double clock_mhz = 0;
};
/// For a page of this family, of all kernels of the device. Results whose type is not known, as
/// imported ones without a space file, may be of any type: only the family's own count.
[[nodiscard]] Roofs roofs_of(std::span<const KernelHistory> kernels, std::string_view family,
                             const space::DeviceInfo& device);

/// One family: its verdict and the wins of each kernel by element type, what to do next, and a row
/// for each size with the ratio of every kernel. `kernels` are all of the family.
[[nodiscard]] Json family_section(std::span<const KernelHistory> kernels, const Roofs& roofs);

}  // namespace tuner::report
