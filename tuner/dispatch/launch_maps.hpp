// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tuner::dispatch {

/// The most arguments of a kernel that may be tensor maps.
inline constexpr std::size_t kMostTensorMaps = 16;

/// The tensor maps of the launches by a plan. A driver takes some 80 ns for each, so a thread that
/// launches with the same buffers again gets those of before. Safe to use from many threads.
class LaunchMaps {
 public:
  LaunchMaps() = default;
  explicit LaunchMaps(std::vector<family::TensorLayout> layouts);

  [[nodiscard]] std::size_t count() const { return layouts_.size(); }

  /// The maps for a launch whose arguments have these values, in order; valid until the calling
  /// thread calls this again. Fails as Executor::tensor_map. Allocates nothing unless it fails.
  [[nodiscard]] Expected<std::span<backend::TensorMapValue>, Failure> of(
      const backend::Executor& executor, std::span<const std::uint64_t> values) const;

 private:
  std::vector<family::TensorLayout> layouts_;
  std::uint64_t number_ = 0;  ///< no other's
};

}  // namespace tuner::dispatch
