// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tuner::counters {

/// What the hardware counted while work ran once from a cold cache. A percentage is of the most
/// that the unit can do while the work runs.
struct Counters {
  double fma_percent = 0;     ///< pipe for single-precision multiply-add
  double tensor_percent = 0;  ///< tensor cores
  double issue_percent = 0;   ///< issue slots: instructions of any kind
  double dram_percent = 0;
  double l2_percent = 0;
  double l1_percent = 0;         ///< data pipe of loads and stores: L1 cache and shared memory
  double warps_percent = 0;      ///< resident warps, of the most, while a multiprocessor is in use
  double l1_wavefronts = 0;      ///< passes through that data pipe
  double shared_wavefronts = 0;  ///< of them for shared memory
  double bank_conflicts = 0;     ///< of them because of bank conflicts
  double shared_loads = 0;       ///< instructions of a warp
  double shared_stores = 0;      ///< likewise
  // The number of warps of a scheduler that wait, on average, when it issues an instruction.
  double waiting_for_memory = 0;   ///< global, local or texture
  double waiting_for_shared = 0;   ///< shared memory
  double waiting_for_queue = 0;    ///< room in the queue of memory instructions
  double waiting_for_barrier = 0;  ///< the block's other warps
  double waiting_for_pipe = 0;     ///< an arithmetic pipe
  double elapsed_ns = 0;           ///< what the run took
  double busy_percent = 0;  ///< the share of the run in the time counted; the rest is its launch
};

/// A counter: its name in messages and documents, the metric of CUPTI, and where it is kept.
struct CounterField {
  std::string_view name;
  const char* metric;
  double Counters::*member;
};

/// All of them, in a fixed order. Every GPU that is no part of a processor has them, and collects
/// them in kMostPasses runs at most.
[[nodiscard]] std::span<const CounterField> counter_fields();
inline constexpr std::size_t kMostPasses = 4;

/// The counters of a run from those of a range of time around it: its percentages are also of the
/// time before the run begins and after it ends.
[[nodiscard]] Counters without_idle_time(Counters range);

/// The counters of a run, or why there are none: one sentence with the remedy.
struct CounterReading {
  std::optional<Counters> counters;
  std::string problem = {};
};

}  // namespace tuner::counters
