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
#include <utility>
#include <vector>

namespace tuner::session {

/// A contender that failed while it was timed; without a configuration it was the library or the
/// companion.
struct LostContender {
  std::optional<space::Config> config;
  Failure failure;
  bool is_companion = false;
};

/// A configuration of another kernel of the family, known to be right at the size, that is timed
/// beside the others and not ranked. What it refers to must outlive the timer.
struct Companion {
  const family::Kernel& kernel;
  const space::BoundDefinition& space;
  space::Config config;
};

/// Whether the library takes part, where the family's reference is one: as it chooses itself, and
/// by the fastest of its algorithms beside that.
enum class LibraryPart { with_algorithms, included, excluded };

/// The times of contenders side by side: the configurations in their order, then the library if the
/// family's reference is of one, then the library by its fastest algorithm if it offers any, then
/// the companion.
struct SideBySideTimes {
  std::size_t configs = 0;  ///< how many of the contenders are configurations
  measure::RoundTimes cold;
  std::vector<double> hot_ns;  ///< by contender
  /// By contender; of those that were not timed so, nothing.
  std::vector<std::optional<backend::RegimeTimes>> regimes = {};
  /// By contender, then round: series back to back on copies of the data, under load where power
  /// limits the clock. None of contenders that were not timed so, fewer of those that the first
  /// showed to be slower.
  std::vector<std::vector<double>> series_ns = {};
  measure::Blocks series_blocks = {};  ///< the rounds of series by process
  std::string library_algorithm = {};  ///< of the library's second contender; empty: there is none
  std::optional<std::size_t> companion = {};  ///< which contender it is

  /// The configurations that were timed in all rounds of series and their times there, or, where
  /// none was, all and their cold times.
  struct Deciding {
    std::vector<std::size_t> contenders;
    std::vector<std::vector<double>> times_ns;  ///< of each of them, by round
    measure::Blocks blocks;                     ///< of these rounds
  };
  [[nodiscard]] Deciding deciding() const;
  /// The standing of one contender beside another by the series of both, else by their cold times.
  [[nodiscard]] measure::MedianInterval standing(std::size_t contender, std::size_t beside) const;
  /// The configurations, those that decide first, then by their times.
  [[nodiscard]] std::vector<std::size_t> fastest_first() const;

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
                  LibraryPart library, std::optional<Companion> companion = {})
      : kernel_(kernel),
        space_(space),
        size_(size),
        pool_(pool),
        device_(device),
        library_(library),
        companion_(std::move(companion)) {}

  /// Times configurations that were verified at the size, at least one, in rounds as time_rounds
  /// does; they are ranked, the library is only timed. None when `stop` ended it before there were
  /// rounds enough for an interval. When a contender fails, all its measurements are discarded:
  /// time the others anew.
  [[nodiscard]] Expected<std::optional<SideBySideTimes>, LostContender> time(
      std::span<const space::Config> configs, const measure::RoundsPlan& plan,
      const std::function<bool()>& stop);
  /// Times the contenders of the last `time` as programs run kernels, one after the other with
  /// their data in memory. First the regimes of the fastest configuration. Where power does not
  /// limit it: up to 30 rounds of series of the library and of the configurations that were not
  /// shown to be more than 25 % slower, in up to five processes. Else two rounds of series under
  /// load of the library and of those not more than 5 % slower, then, in another process, four more
  /// of the library, of `incumbent`, and of those whose faster one is within 3 % of the fastest.
  /// `stop` ends it without series.
  [[nodiscard]] Expected<void, LostContender> add_series(SideBySideTimes& times,
                                                         std::optional<std::size_t> incumbent,
                                                         const std::function<bool()>& stop);
  /// Adds the regimes of a contender that has none.
  [[nodiscard]] Expected<void, LostContender> add_regimes(SideBySideTimes& times,
                                                          std::size_t contender);

 private:
  /// Finds the library's fastest algorithm, if it is to take part, and loads the contenders.
  /// Returns their number, with the library.
  [[nodiscard]] Expected<std::size_t, LostContender> add_contenders();
  [[nodiscard]] Expected<std::size_t, LostContender> load_contenders();
  /// Whether a new process for the contenders takes little time beside their rounds.
  [[nodiscard]] bool is_moved_soon() const;
  /// Loads the contenders into a new process.
  [[nodiscard]] Expected<void, LostContender> move_contenders();
  [[nodiscard]] Expected<void, Failure> add_contender(const family::Kernel& kernel,
                                                      const space::BoundDefinition& space,
                                                      const space::Config& config);
  /// Adds the library, as often as it takes part. Returns how often.
  [[nodiscard]] Expected<std::size_t, Failure> add_library();
  /// The configurations whose cold times are not shown to be more than a factor of the fastest's,
  /// and the library.
  [[nodiscard]] static std::vector<std::size_t> near_the_fastest(const SideBySideTimes& times,
                                                                 double factor);
  /// Of contenders, by round: fewer rounds where these take longer than planned or `stop` says so.
  [[nodiscard]] Expected<std::vector<std::vector<double>>, LostContender> series_of(
      std::span<const std::size_t> contenders, backend::Lead lead, const measure::RoundsPlan& plan,
      const std::function<bool()>& stop);
  /// The part of add_series for clocks that power does not limit.
  [[nodiscard]] Expected<void, LostContender> add_series_in_processes(
      SideBySideTimes& times, std::span<const std::size_t> near, const std::function<bool()>& stop);
  /// The part of add_series for clocks that power limits.
  [[nodiscard]] Expected<void, LostContender> add_series_under_load(
      SideBySideTimes& times, std::span<const std::size_t> near,
      std::optional<std::size_t> incumbent, const std::function<bool()>& stop);
  [[nodiscard]] LostContender lost(std::size_t contender, const Failure& failure) const;

  const family::Kernel& kernel_;
  const space::BoundDefinition& space_;
  const space::Size& size_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
  LibraryPart library_;
  std::optional<Companion> companion_;
  std::optional<std::size_t> companion_place_;  // among the contenders
  std::string algorithm_;                       // of the library, as it takes part
  std::vector<space::Config> configs_;          // that are timed
};

}  // namespace tuner::session
