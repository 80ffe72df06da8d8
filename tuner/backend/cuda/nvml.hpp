// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::backend {

/// Those of the processes that do not belong to this program: neither this process, nor one that
/// runs the same program above it, nor any below those, nor one above that $TUNER_PARENT declares
/// to wait for this program. None when this process, which must be among
/// them, is not: then the numbers are of another PID namespace and name strangers.
[[nodiscard]] std::optional<std::vector<int>> foreign_processes(std::vector<int> pids);

struct NvmlApi;

/// What NVML's reasons for a lowered clock (nvmlClocksEventReason…) mean for a measurement.
[[nodiscard]] Conditions conditions_of(unsigned long long clock_event_reasons);

/// NVIDIA's management library, asked and never told: it sets nothing. It comes with the driver;
/// where it is missing or refuses to answer, nothing is known.
class Nvml {
 public:
  /// `uuid` as in DeviceInfo.
  explicit Nvml(const std::string& uuid);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Of a device that this process computes on. Knows nothing of MPS. The limits are those of when
  /// this object was made.
  [[nodiscard]] Conditions conditions() const;
  /// That the device has taken since its driver was loaded. None of a MIG slice, which shares the
  /// counter with others, and of GPUs before Volta.
  [[nodiscard]] std::optional<double> joules() const;

 private:
  std::unique_ptr<const NvmlApi> api_;  ///< null when there is none
  struct nvmlDevice_st* device_ = nullptr;
  struct nvmlDevice_st* gpu_ = nullptr;  ///< the same, or the one that it is a MIG slice of
  ClockLimit clock_limit_;
};

}  // namespace tuner::backend
