// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/space/device.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// The time of a candidate.
struct CandidateTime {
  std::string candidate;  ///< its identity: kernel, version, configuration and size
  double time_ns = 0;
};

/// What was measured to choose among the candidates for a size, kept as compiled kernels are:
/// another process with the same device, versions and candidates measures nothing.
class KeptMeasurement {
 public:
  /// `candidates` are all that the table has for the size, the most promising first, so that
  /// another state of the table has a measurement of its own. `cache` must outlive this.
  KeptMeasurement(backend::BinaryCache& cache, const space::DeviceInfo& device,
                  const space::EnvironmentInfo& environment,
                  std::span<const std::string> candidates);

  /// None where nothing is kept.
  [[nodiscard]] std::optional<std::vector<CandidateTime>> find() const;
  void keep(std::span<const CandidateTime> times) const;

 private:
  backend::BinaryCache& cache_;
  std::string key_;
};

}  // namespace tuner::dispatch
