// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/record.hpp"
#include "tuner/space/device.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tuner::counters {

/// What a launch takes of a multiprocessor.
struct Footprint {
  bool operator==(const Footprint&) const = default;

  std::int64_t threads = 0;       ///< of a block
  std::int64_t registers = 0;     ///< of a thread
  std::int64_t shared_bytes = 0;  ///< of a block
  std::int64_t local_bytes = 0;   ///< of a thread: spills and local arrays

  static constexpr auto fields() {
    return std::tuple(Field("threads", &Footprint::threads),
                      Field("registers", &Footprint::registers),
                      Field("shared_bytes", &Footprint::shared_bytes),
                      Field("local_bytes", &Footprint::local_bytes));
  }
};

/// How many blocks of a launch a multiprocessor holds.
struct Occupancy {
  std::int64_t blocks = 0;
  double warps_percent = 0;  ///< of the warps that it can hold
  std::string_view limit;    ///< "threads", "registers", "shared memory", "blocks"
};

/// As the CUDA Occupancy Calculator counts for compute capability 7.0 and later. Absent on a device
/// that is no GPU, and where a block does not fit.
[[nodiscard]] std::optional<Occupancy> occupancy(const Footprint& launch,
                                                 const space::DeviceAttributes& device);

}  // namespace tuner::counters
