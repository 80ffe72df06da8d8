// SPDX-License-Identifier: Apache-2.0
// What it costs to have a device work on data that the host has.
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/measure/host_place.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::measure {

/// Data of a piece of work: where they are on the device, and how the host keeps them.
struct TransferData {
  backend::Region region;
  std::size_t size_bytes = 0;
  family::BufferRole role = family::BufferRole::input;  ///< taken there, or brought back, or both
  HostPlace place = HostPlace::pageable;
};

/// Nanoseconds of a transfer: device memory for the data, the inputs to the device, the work, the
/// outputs back, the memory freed. Mapped data take no device memory and no copies.
struct TransferTimes {
  double allocate_ns = 0, to_device_ns = 0, work_ns = 0, to_host_ns = 0, free_ns = 0;
  /// What the host spends once on its pinned and mapped memory; not part of the total.
  double pin_ns = 0;

  [[nodiscard]] double total_ns() const {
    return allocate_ns + to_device_ns + work_ns + to_host_ns + free_ns;
  }
};

/// The medians of `samples` repetitions after one that is discarded, by the host's clock: each step
/// with its call and the wait for its end. The work finds in its outputs what their regions hold.
/// On return the regions of the outputs hold what the host got. Fails as Backend::time_call does;
/// throws Error(failure) when memory is short.
[[nodiscard]] Expected<TransferTimes, Failure> time_transfers(backend::Backend& backend,
                                                              const backend::Work& work,
                                                              std::span<const TransferData> data,
                                                              int samples);

}  // namespace tuner::measure
