// SPDX-License-Identifier: Apache-2.0
// Module counters: the hardware counters of a device, and what they say: occupancy, and in
// sentences what limits a kernel.
//
// From counters to sentences.
#pragma once

#include "tuner/counters/counters.hpp"
#include "tuner/counters/instruction_mix.hpp"
#include "tuner/counters/occupancy.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::counters {

/// A unit that is used to this share of its peak or more bounds the run.
inline constexpr double kBusyPercent = 60;

/// What bounds a run, in one sentence: the busiest unit, where one is busy, with the others that
/// are; else latency, with what most warps wait for.
[[nodiscard]] std::string bound_sentence(const Counters& counters);

/// Bank conflicts for each load or store of shared memory by a warp; 0 where there is none.
[[nodiscard]] double conflicts_per_request(const Counters& counters);

/// All that is known of a run beside its time.
struct Profile {
  std::optional<Footprint> footprint = {};  ///< absent: a library's
  std::optional<Occupancy> occupancy = {};
  std::optional<Counters> counters = {};
  std::optional<InstructionMix> instructions = {};  ///< of its machine code

  /// Without the occupancy, which follows from the footprint and the device.
  static constexpr auto fields() {
    return std::tuple(Field("footprint", &Profile::footprint),
                      Field("counters", &Profile::counters),
                      Field("instructions", &Profile::instructions));
  }
};

/// In what a run differs from another so much that it may explain a difference in time, at most
/// three things, causes before effects: "2.3 bank conflicts a request instead of 0.0". Empty when
/// they are alike.
[[nodiscard]] std::vector<std::string> differences(const Profile& run, const Profile& from);

/// "96 registers a thread, no spills, …; 2 blocks of 256 threads on a multiprocessor, limited by
/// registers: occupancy 25 %". What is zero is not known and left out.
[[nodiscard]] std::string resources_sentence(const Footprint& footprint,
                                             const std::optional<Occupancy>& occupancy);

}  // namespace tuner::counters
