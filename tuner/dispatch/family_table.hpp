// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/number_map.hpp"
#include "tuner/dispatch/family_catalogue.hpp"
#include "tuner/dispatch/launch_plan.hpp"
#include "tuner/family/family.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner {

/// An argument that a launch gives.
struct GivenArgument {
  std::string name;
  std::size_t place = 0;  ///< among the family's arguments
  DispatchArgument::Type type = DispatchArgument::Type::pointer;
};

/// What a size claims of where buffers begin: for each given argument the bits that its address
/// must not have set; 0 for what is no buffer.
using AlignmentClaim = std::vector<std::uint64_t>;

/// Whether addresses are as a size claims.
[[nodiscard]] inline bool holds(const AlignmentClaim& claim,
                                std::span<const DispatchArgument> arguments) {
  std::uint64_t broken = 0;
  for (std::size_t i = 0; i < claim.size(); ++i) broken |= arguments[i].bits() & claim[i];
  return broken == 0;
}

/// The same problem by a size that claims less or more of the buffers' alignment.
struct Realignment {
  Size size;
  AlignmentClaim claim;
};

/// A size that was asked for, and the plan in force for it.
struct SizeSlot {
  Size size;  ///< complete
  std::string text;
  AlignmentClaim claim;
  std::vector<Realignment> realignments;  ///< the most aligned first
  std::atomic<const LaunchPlan*> plan = nullptr;
  std::mutex mutex;              ///< of those who make a plan
  std::deque<LaunchPlan> plans;  ///< all that were in force: a launch may still use one
};

/// A family of a table on a device: its kernels, ready to be planned with, and its sizes.
class FamilyTable {
 public:
  /// `outline` of one family, with sources, the kernel used last first. A kernel whose arguments or
  /// dimensions are not those of the first is left out, as is one that does not run on the backend.
  /// Throws Error(usage) when a space file cannot be read.
  FamilyTable(CatalogueOutline outline, StalePolicy policy);

  /// Read at the first call. Throws Error(usage) when it cannot be. Safe for many threads.
  [[nodiscard]] const Catalogue& catalogue() const { return catalogue_.complete(); }

  [[nodiscard]] const Family& family() const { return family_; }
  [[nodiscard]] const std::vector<GivenArgument>& given() const { return given_; }
  /// Null when the table has no source of it.
  [[nodiscard]] const Kernel* kernel(const std::string& name) const;

  /// The values that expressions of the family see at a size.
  [[nodiscard]] Slots slots(const Size& size) const;
  /// Throws DispatchError unless there is one argument of the right type for each of given().
  void check_arguments(std::span<const DispatchArgument> arguments) const {
    if (!std::ranges::equal(arguments, given_types_, {}, &DispatchArgument::type)) {
      fail_arguments(arguments);
    }
  }

  /// The slot of a size that was asked for before; null else. Without a lock.
  [[nodiscard]] SizeSlot* find(std::span<const std::int64_t> size) const {
    return slots_.find(size);
  }
  /// The same, made when it is new; `size` may leave out dimensions that have a default. Throws
  /// DispatchError when it is none of the family's.
  [[nodiscard]] SizeSlot& slot(std::span<const std::int64_t> size);

 private:
  [[nodiscard]] Size complete(std::span<const std::int64_t> numbers) const;
  [[nodiscard]] AlignmentClaim claim(const Size& size) const;
  [[nodiscard]] std::vector<Realignment> realignments(const Size& size) const;
  [[noreturn]] void fail_arguments(std::span<const DispatchArgument> arguments) const;

  FamilyCatalogue catalogue_;
  Family family_;
  DeviceAttributes device_;
  std::vector<GivenArgument> given_;
  std::vector<DispatchArgument::Type>
      given_types_;                          // close together, as every launch looks at them
  std::vector<std::size_t> alignment_dims_;  // kinds that say how buffers are aligned
  std::map<std::string, Kernel> kernels_;
  std::mutex mutex_;  // of those who make a slot
  std::deque<SizeSlot> all_slots_;
  NumberMap<SizeSlot> slots_;
};

/// A family as text: its documents in a database or a table, read back.
[[nodiscard]] Family stored_family(std::span<const CatalogueKernel* const> kernels,
                                   const KernelRecord& record);

}  // namespace tuner
