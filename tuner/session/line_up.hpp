// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/measure/finals.hpp"
#include "tuner/store/records.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::session {

/// A contender that fell out of a line-up, and how; no configuration when it was the library.
struct LostContender {
  std::optional<space::Config> config;
  Failure failure;
};

/// Whether the library takes part, where the family's reference is one.
enum class LibraryPart { taken, left_out };

/// The times of contenders side by side: the configurations in their order, then the library if the
/// family's reference is of one.
struct LineUpTimes {
  measure::FinalTimes cold;
  std::vector<double> hot_ns;  ///< by contender

  /// A contender with its standing beside another one.
  [[nodiscard]] store::FinalistRecord finalist(std::string role, std::string config_json,
                                               std::size_t contender, std::size_t beside) const;
};

/// Configurations of a kernel and the library, to be timed side by side at one size: the one way in
/// which times are compared.
class LineUp {
 public:
  /// All must outlive it. `space` is the kernel's at `size`.
  LineUp(const family::Kernel& kernel, const space::Space& space, const space::Size& size,
         worker::CompilePool& pool, worker::DeviceWorker& device, LibraryPart library)
      : kernel_(kernel),
        space_(space),
        size_(size),
        pool_(pool),
        device_(device),
        library_(library) {}

  /// Times configurations that were verified at the size, at least one, in rounds as run_finals
  /// does; they are ranked, the library rides along. None when `stop` said so before there were
  /// rounds enough for an interval. When a contender falls out nothing that was measured counts: it
  /// can be done again without that one.
  [[nodiscard]] Expected<std::optional<LineUpTimes>, LostContender> time(
      std::span<const space::Config> configs, const measure::FinalsPlan& plan,
      const std::function<bool()>& stop);

 private:
  /// Adds the contenders to a new line-up. How many there are, with the library.
  [[nodiscard]] Expected<std::size_t, LostContender> gather(std::span<const space::Config> configs);

  const family::Kernel& kernel_;
  const space::Space& space_;
  const space::Size& size_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  LibraryPart library_;
};

}  // namespace tuner::session
