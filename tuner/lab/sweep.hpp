// SPDX-License-Identifier: Apache-2.0
// The module lab: experiments around the tuner, which the loop of a run does not know. Here: what
// takes how long on a device over a range of sizes, transfers included.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/measure/transfer.hpp"
#include "tuner/store/records.hpp"
#include "tuner/worker/device_worker.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::lab {

/// A kernel to take at a size.
struct SweepChoice {
  const family::Kernel* kernel = nullptr;
  std::optional<space::Config> config = {};  ///< absent: its default
};

/// Who is timed at every size.
struct SweepContender {
  std::string name;
  /// None where it takes no part. No function: the library.
  std::function<std::optional<SweepChoice>(const space::Size&)> choose = {};
};

/// Where the host keeps each of the family's buffers, in their order.
struct Placement {
  std::string name;
  std::vector<measure::HostPlace> places;
};

struct SweepPlan {
  std::vector<space::Size> sizes;  ///< the work grows from one to the next
  std::vector<SweepContender> contenders;
  std::vector<Placement> placements;  ///< each contender is timed with; may be empty
  /// Skips a contender, with or without transfers, whose expected time for one run exceeds this.
  double most_run_ns = 1e9;
};

/// The time of a contender at a size.
struct SweepTime {
  std::string contender;
  std::size_t size = 0;  ///< among the plan's
  Outcome outcome = Outcome::ok;
  std::string message = {};                ///< why it is not `ok`
  std::optional<TimeSummary> time = {};    ///< only when `ok`
  std::optional<double> clock_mhz = {};    ///< of the multiprocessors meanwhile, where known
  std::string kernel = {};                 ///< empty: the library
  std::string config_json = {};            ///< of the kernel
  double compile_ms = 0;                   ///< 0 when the same code was compiled before
  std::optional<double> worst_error = {};  ///< the largest error as a share of its bound
};

/// What a contender takes with its transfers.
struct SweepTransfer {
  std::string contender;
  std::size_t size = 0;
  std::string placement;
  Outcome outcome = Outcome::ok;
  std::string message = {};
  std::optional<measure::TransferTimes> times = {};  ///< only when `ok`
};

/// What was not timed at a size, and why.
struct SweepSkip {
  std::string contender;  ///< empty: every one
  std::string placement;  ///< empty: the contender takes no part; else only its transfers here
  std::size_t size = 0;   ///< among the plan's
  std::string why;
};

/// A sweep on one device.
struct SweepResult {
  std::vector<SweepTime> times;
  std::vector<SweepTransfer> transfers;
  std::vector<SweepSkip> skipped;
  /// For each size the hash of the right result on whole-number inputs
  /// (DeviceWorker::exact_result), which all that ended ok computed; empty if there was none.
  std::vector<std::string> exact_results;
};

/// Compiles, verifies and screens each contender at each size as a run does, then times those that
/// ended ok with transfers. Calls `heard` with each time, and `stop` between the steps; true ends
/// the sweep. A size beyond the device's memory is skipped; memory that runs out later ends only
/// that contender at that size (launch_error).
[[nodiscard]] SweepResult run_sweep(const family::Family& family, const SweepPlan& plan,
                                    worker::DeviceWorker& device, const backend::Compiler& compiler,
                                    const std::function<void(const SweepTime&)>& heard,
                                    const std::function<bool()>& stop);

/// How long something takes at each size; absent where it was not timed.
struct SweepCurve {
  std::string name;
  std::vector<std::optional<double>> times_ns;
  /// The quartiles of each, where they are known.
  std::vector<std::optional<std::pair<double, double>>> quartiles_ns = {};
};

/// The name of "faster" where two times are a tie: within 5 %, or with quartiles that overlap.
inline constexpr std::string_view kNeither = "neither";

/// A stretch of sizes at all of which the same one of two is the faster, or neither is.
struct FasterStretch {
  std::string faster;
  std::size_t first = 0, last = 0;  ///< among the sizes
  bool operator==(const FasterStretch&) const = default;
};

/// Which of two is faster where, in order. Sizes at which not both were timed belong to none.
[[nodiscard]] std::vector<FasterStretch> faster_stretches(const SweepCurve& one,
                                                          const SweepCurve& other);

/// "mapped": all buffers of the family; "A=mapped,B=pinned": these, the others pageable. Throws
/// Error(usage), with a suggestion, for what is neither.
[[nodiscard]] Placement parse_placement(const std::string& text, const family::Family& family);

}  // namespace tuner::lab
