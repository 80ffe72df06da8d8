// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

struct nvmlDevice_st;

namespace tuner::gemm_benchmark {

/// The multiprocessors' clock as NVML shows it. Where the library is missing or refuses to answer,
/// nothing is known.
class SmClock {
 public:
  /// `uuid` as in DeviceInfo.
  explicit SmClock(const std::string& uuid);
  ~SmClock();
  SmClock(const SmClock&) = delete;
  SmClock& operator=(const SmClock&) = delete;

  /// At this moment.
  [[nodiscard]] std::optional<double> mhz() const;

 private:
  struct Api;
  std::unique_ptr<const Api> api_;  ///< null when there is none
  nvmlDevice_st* device_ = nullptr;
};

}  // namespace tuner::gemm_benchmark
