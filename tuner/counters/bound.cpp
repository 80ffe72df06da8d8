// SPDX-License-Identifier: Apache-2.0
#include "tuner/counters/bound.hpp"

#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace tuner::counters {
namespace {

/// A value with a name for people.
struct Named {
  std::string_view name;
  double value = 0;
};

/// The data pipe serves shared memory and the L1 cache alike: it is called after what used it most.
std::string_view data_pipe(const Counters& counters) {
  return 2 * counters.shared_wavefronts >= counters.l1_wavefronts ? "shared-memory bandwidth"
                                                                  : "L1 bandwidth";
}

std::array<Named, 6> units(const Counters& counters) {
  return {{{"FMA pipe", counters.fma_percent},
           {"tensor cores", counters.tensor_percent},
           {"instruction issue", counters.issue_percent},
           {"memory bandwidth", counters.dram_percent},
           {"L2 bandwidth", counters.l2_percent},
           {data_pipe(counters), counters.l1_percent}}};
}

std::array<Named, 5> waits(const Counters& counters) {
  return {{{"data from global memory", counters.waiting_for_memory},
           {"data from shared memory", counters.waiting_for_shared},
           {"room in the queue of memory instructions", counters.waiting_for_queue},
           {"a barrier", counters.waiting_for_barrier},
           {"an arithmetic pipe", counters.waiting_for_pipe}}};
}

template <std::size_t kCount>
void sort_down(std::array<Named, kCount>& values) {
  std::ranges::stable_sort(values, std::ranges::greater{}, &Named::value);
}

double requests(const Counters& counters) {
  return counters.shared_loads + counters.shared_stores;
}

/// Adds what differs, the causes first.
class DifferenceList {
 public:
  void add_footprints(const Footprint& run, const Footprint& from) {
    if (run.local_bytes != from.local_bytes) {
      add("{} B of local memory a thread instead of {}", run.local_bytes, from.local_bytes);
    }
  }

  void add_shared_memory(const Counters& run, const Counters& from) {
    constexpr double kConflicts = 0.1, kRatio = 1.2;
    const double now = conflicts_per_request(run), then = conflicts_per_request(from);
    if (std::abs(now - then) >= kConflicts) {
      add("{:.1f} bank conflicts a request instead of {:.1f}", now, then);
    }
    const double now_requests = requests(run), then_requests = requests(from);
    if (now_requests == 0 && then_requests > 0) {
      add("no requests to shared memory");
    } else if (then_requests == 0 && now_requests > 0) {
      add("shared memory is used");
    } else if (now_requests > kRatio * then_requests || then_requests > kRatio * now_requests) {
      add("{} times the requests to shared memory",
          quantity::number(now_requests / then_requests, 2));
    }
  }

  void add_occupancy(const Profile& run, const Profile& from) {
    constexpr double kPoints = 10;
    const bool is_static = run.occupancy && from.occupancy;
    if (!is_static && !(run.counters && from.counters)) return;
    const double now = is_static ? run.occupancy->warps_percent : run.counters->warps_percent;
    const double then = is_static ? from.occupancy->warps_percent : from.counters->warps_percent;
    if (std::abs(now - then) < kPoints) return;
    add("occupancy {:.0f} % instead of {:.0f} %", now, then);
  }

  void add_registers(const Footprint& run, const Footprint& from) {
    constexpr std::int64_t kRegisters = 8;
    if (std::abs(run.registers - from.registers) < kRegisters) return;
    add("{} registers a thread instead of {}", run.registers, from.registers);
  }

  /// The wait, else the unit, that changed most.
  void add_effect(const Counters& run, const Counters& from) {
    constexpr double kWarps = 0.5, kPoints = 10;
    const auto [wait, now, then] = largest_change(waits(run), waits(from));
    if (std::abs(now - then) >= kWarps) {
      return add("{:.1f} warps waiting for {} instead of {:.1f}", now, wait, then);
    }
    const auto [unit, use, other_use] = largest_change(units(run), units(from));
    if (std::abs(use - other_use) >= kPoints) {
      add("{} {:.0f} % instead of {:.0f} %", unit, use, other_use);
    }
  }

  std::vector<std::string> first(std::size_t most) && {
    if (texts_.size() > most) texts_.resize(most);
    return std::move(texts_);
  }

 private:
  struct ChangedValue {
    std::string_view name;
    double now = 0, then = 0;
  };

  template <std::size_t kCount>
  static ChangedValue largest_change(const std::array<Named, kCount>& run,
                                     const std::array<Named, kCount>& from) {
    std::size_t largest = 0;
    const auto change = [&](std::size_t i) { return std::abs(run[i].value - from[i].value); };
    for (std::size_t i = 1; i < kCount; ++i) {
      if (change(i) > change(largest)) largest = i;
    }
    return {run[largest].name, run[largest].value, from[largest].value};
  }

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    texts_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  std::vector<std::string> texts_;
};

}  // namespace

double conflicts_per_request(const Counters& counters) {
  const double all = requests(counters);
  return all > 0 ? counters.bank_conflicts / all : 0;
}

std::string bound_sentence(const Counters& counters) {
  std::array<Named, 6> by_use = units(counters);
  sort_down(by_use);
  const auto& [busiest, percent] = by_use.front();
  if (percent >= kBusyPercent) {
    std::string sentence = fmt::format("{}: {:.0f} % of its peak", busiest, percent);
    for (std::size_t i = 1; i < by_use.size() && by_use[i].value >= kBusyPercent; ++i) {
      sentence += fmt::format("; {} {:.0f} %", by_use[i].name, by_use[i].value);
    }
    return sentence;
  }
  std::array<Named, 5> by_wait = waits(counters);
  sort_down(by_wait);
  return fmt::format(
      "latency: most warps wait for {} ({:.1f} of a scheduler's); the busiest unit is {}, {:.0f} % "
      "of its peak",
      by_wait.front().name, by_wait.front().value, busiest, percent);
}

std::vector<std::string> differences(const Profile& run, const Profile& from) {
  constexpr std::size_t kMost = 3;
  DifferenceList list;
  const bool have_counters = run.counters && from.counters;
  const bool have_footprints = run.footprint && from.footprint;
  if (have_footprints) list.add_footprints(*run.footprint, *from.footprint);
  if (have_counters) list.add_shared_memory(*run.counters, *from.counters);
  list.add_occupancy(run, from);
  if (have_footprints) list.add_registers(*run.footprint, *from.footprint);
  if (have_counters) list.add_effect(*run.counters, *from.counters);
  return std::move(list).first(kMost);
}

std::string resources_sentence(const Footprint& footprint,
                               const std::optional<Occupancy>& occupancy) {
  std::vector<std::string> parts;
  if (footprint.registers > 0) {
    parts.push_back(fmt::format("{} registers a thread", footprint.registers));
    parts.push_back(
        footprint.local_bytes > 0
            ? fmt::format("{} B of local memory a thread (spills or arrays)", footprint.local_bytes)
            : "no spills");
  }
  parts.push_back(fmt::format("{} B of shared memory a block", footprint.shared_bytes));
  std::string sentence = fmt::format("{}", fmt::join(parts, ", "));
  if (!occupancy) return sentence;
  return sentence + fmt::format(
                        "; {} of {} threads on a multiprocessor, limited by {}: occupancy "
                        "{:.0f} %",
                        quantity::count(static_cast<std::uint64_t>(occupancy->blocks), "block"),
                        footprint.threads, occupancy->limit, occupancy->warps_percent);
}

}  // namespace tuner::counters
