// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/measure/rounds.hpp"
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

/// A contender that failed while it was timed; without a configuration it was the library.
struct LostContender {
  std::optional<space::Config> config;
  Failure failure;
};

/// Whether the library takes part, where the family's reference is one: as it chooses itself, and
/// by the fastest of its algorithms beside that.
enum class LibraryPart { with_algorithms, included, excluded };

/// The times of contenders side by side: the configurations in their order, then the library if the
/// family's reference is of one, then the library by its fastest algorithm if it offers any.
struct SideBySideTimes {
  measure::RoundTimes cold;
  std::vector<double> hot_ns;  ///< by contender
  /// By contender: of the fastest configuration and the library; where these differ, also of the
  /// configurations within 5 % of the fastest. Others are not timed so.
  std::vector<std::optional<backend::RegimeTimes>> regimes = {};
  std::string library_algorithm = {};  ///< of the last contender; empty: there is no such one

  /// A contender with its standing beside another one.
  [[nodiscard]] store::FinalistRecord finalist(std::string role, std::string config_json,
                                               std::size_t contender, std::size_t beside) const;
};

/// Configurations of a kernel and the library, to be timed side by side at one size: the one way in
/// which times are compared.
class SideBySideTimer {
 public:
  /// All must outlive it. `space` is the kernel's at `size`.
  SideBySideTimer(const family::Kernel& kernel, const space::BoundDefinition& space,
                  const space::Size& size, worker::CompilePool& pool, worker::DeviceWorker& device,
                  LibraryPart library)
      : kernel_(kernel),
        space_(space),
        size_(size),
        pool_(pool),
        device_(device),
        library_(library) {}

  /// Times configurations that were verified at the size, at least one, in rounds as time_rounds
  /// does; they are ranked, the library is only timed. None when `stop` ended it before there were
  /// rounds enough for an interval. When a contender fails, all its measurements are discarded:
  /// time the others anew.
  [[nodiscard]] Expected<std::optional<SideBySideTimes>, LostContender> time(
      std::span<const space::Config> configs, const measure::RoundsPlan& plan,
      const std::function<bool()>& stop);

 private:
  /// Loads the contenders. Returns their number, with the library.
  [[nodiscard]] Expected<std::size_t, LostContender> add_contenders(
      std::span<const space::Config> configs);
  /// Adds the library, as often as it takes part. Returns how often.
  [[nodiscard]] Expected<std::size_t, Failure> add_library();
  /// The regimes of contenders by their cold times.
  [[nodiscard]] Expected<void, Failure> time_regimes(SideBySideTimes& times, std::size_t configs,
                                                     std::size_t& timed);

  const family::Kernel& kernel_;
  const space::BoundDefinition& space_;
  const space::Size& size_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  LibraryPart library_;
  std::string algorithm_;  // of the library, as it takes part
};

}  // namespace tuner::session
