// SPDX-License-Identifier: Apache-2.0
// Where a run is in the roofline model (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009).
#pragma once

#include <string>

namespace tuner::counters {

/// What a problem needs at the least, and the limits of a device. What is 0 is not known or not
/// needed.
struct Roofline {
  bool operator==(const Roofline&) const = default;

  double flops = 0, bytes = 0;  ///< of the problem: each byte moved once
  double peak_flops_per_s = 0;  ///< of the multiprocessors at the clock they ran at
  double peak_bytes_per_s = 0;  ///< between the device and its memory
};

/// The share of the roof above it that a run of this time reaches: 1 is the roof. 0 where no roof
/// is known.
[[nodiscard]] double share_of_roof(const Roofline& roofline, double time_ns);

/// "683 FLOP/byte, compute side: 48.2 TFLOP/s, 72 % of the nominal 66.9 TFLOP/s"; "memory
/// side: 3.72 TB/s, 77 % of the nominal 4.80 TB/s". Empty where the work is not known.
[[nodiscard]] std::string roofline_sentence(const Roofline& roofline, double time_ns);

}  // namespace tuner::counters
