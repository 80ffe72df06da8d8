// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/space/device.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// What was measured of a candidate.
struct MeasuredCandidate {
  std::string identity;                ///< kernel, version, configuration and size
  std::string title;                   ///< for people
  std::string library_algorithm = {};  ///< of one that is the library by it; empty of others
  double time_ns = 0;
};

/// What was measured to choose among the candidates for a size, kept as compiled kernels are:
/// another process with the same device, versions and candidates measures nothing.
class KeptMeasurement {
 public:
  /// `candidates` are the identities of all that the table has for the size, the most promising
  /// first, so that another state of the table has a measurement of its own. Algorithms of the
  /// library depend on its version alone. `cache` must outlive this.
  KeptMeasurement(backend::BinaryCache& cache, const space::DeviceInfo& device,
                  const space::EnvironmentInfo& environment,
                  std::span<const std::string> candidates);

  /// Of the form of content_hash.
  [[nodiscard]] const std::string& key() const { return key_; }
  /// In the order in which they were kept, first the chosen one; none where nothing is kept.
  [[nodiscard]] std::optional<std::vector<MeasuredCandidate>> find() const;
  void keep(std::span<const MeasuredCandidate> candidates) const;

 private:
  backend::BinaryCache& cache_;
  std::string key_;
};

}  // namespace tuner::dispatch
