// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/select/shipped_table.hpp"
#include "tuner/store/store.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tuner::session {

/// What was best before for a kernel at a size on this device model, whatever the driver and the
/// version of the source; none when there is no such thing or the space no longer has its values.
[[nodiscard]] std::optional<space::Config> incumbent(const store::Store& store,
                                                     const family::Family& family,
                                                     const family::Kernel& kernel,
                                                     const space::DeviceInfo& device,
                                                     const space::Size& size);

/// What won for a kernel before: by the database, and by installed tables. Whatever the driver and
/// the version of the source; configurations that the space no longer has are left out.
class EarlierWinners {
 public:
  /// Of devices of this one's backend. `shipped`: of any kernel of the family.
  EarlierWinners(const store::Store& store, const family::Family& family,
                 const family::Kernel& kernel, const space::DeviceInfo& device,
                 std::span<const select::ShippedWinner> shipped);

  /// At this very size, each once, but not the incumbent: of this device model by installed
  /// tables, then of others, the newest results of the database first.
  [[nodiscard]] std::vector<space::Config> at_size(const space::Size& size) const;
  /// At any size, at most eight, each once: of this device model first, then by how near the size
  /// is.
  [[nodiscard]] std::vector<space::Config> anywhere(const space::Size& size) const;

 private:
  struct Winner {
    bool on_this_model;
    bool is_incumbent;  ///< of this model, by the database
    space::Size size;
    space::Config config;
  };

  const space::Dimensions& dims_;
  std::vector<Winner> winners_;
};

}  // namespace tuner::session
