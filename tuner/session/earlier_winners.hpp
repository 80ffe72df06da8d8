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

/// What was fastest at a size.
struct EarlierWinner {
  space::Size size;
  space::Config config;
};

/// What won for a kernel before: by the database, and by installed tables. Whatever the driver and
/// the version of the source; configurations that the space no longer has are left out.
class EarlierWinners {
 public:
  /// Of devices of this one's backend. `shipped`: of any kernel of the family. Family, kernel and
  /// device must outlive this.
  EarlierWinners(const store::Store& store, const family::Family& family,
                 const family::Kernel& kernel, const space::DeviceInfo& device,
                 std::span<const select::ShippedWinner> shipped);

  /// At this very size, each once, but not the incumbent: of this device model by installed
  /// tables, then of others, the newest results of the database first.
  [[nodiscard]] std::vector<space::Config> at_size(const space::Size& size) const;
  /// At any size, at most eight, each once: of this device model first, then by how near the size
  /// is.
  [[nodiscard]] std::vector<space::Config> anywhere(const space::Size& size) const;
  /// The winners of anywhere() with their sizes, at most eight, each pair once.
  [[nodiscard]] std::vector<EarlierWinner> near(const space::Size& size) const;
  /// Adds the fastest trials of this device model, of sizes without a final round too.
  void add_fastest_trials(const store::Store& store);

 private:
  struct Winner {
    bool on_this_model;
    bool is_incumbent;  ///< of this model, by the database
    space::Size size;
    space::Config config;
  };

  /// The winners at the same kind of problem, of this model first, then the nearest first.
  [[nodiscard]] std::vector<const Winner*> by_distance(const space::Size& size) const;

  const family::Family& family_;
  const family::Kernel& kernel_;
  const space::DeviceInfo& device_;
  std::vector<Winner> winners_;
};

}  // namespace tuner::session
