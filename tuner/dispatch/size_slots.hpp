// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/number_map.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/epoch_reclaimer.hpp"
#include "tuner/dispatch/launch_plan.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// What a size claims of a buffer or an array that a launch gives: bits that must not be set.
struct BufferClaim {
  static constexpr std::uint64_t kNotNull = std::uint64_t{1} << 63;

  std::uint64_t unset_bits = 0;  ///< of its address
  std::uint64_t unset_bits_less_one =
      0;  ///< of its address less one: kNotNull, which no address has
};
/// For each given argument; of a number nothing is claimed.
using AddressClaim = std::vector<BufferClaim>;

/// Whether addresses are as a size claims.
[[nodiscard]] inline bool holds(const AddressClaim& claim,
                                std::span<const DispatchArgument> arguments) {
  std::uint64_t broken = 0;
  for (std::size_t i = 0; i < claim.size(); ++i) {
    const std::uint64_t bits = arguments[i].bits();
    broken |= (bits & claim[i].unset_bits) | ((bits - 1) & claim[i].unset_bits_less_one);
  }
  return broken == 0;
}

/// A size of the problem that claims less or more of the buffers' alignment.
struct Realignment {
  space::Size size;
  AddressClaim claim;
};

/// How long a slot stays.
enum class SlotLife {
  kept,       ///< as long as the table
  droppable,  ///< dropped after enough other sizes were requested
};

/// A size that was asked for, and the plan in force for it.
struct SizeSlot : std::enable_shared_from_this<SizeSlot> {
  space::Size size;  ///< complete
  std::string text;
  std::vector<DispatchArgument::Type> given_types;  ///< of the arguments of a launch
  AddressClaim claim;
  std::vector<Realignment> realignments;  ///< the most aligned first
  std::atomic<const LaunchPlan*> plan = nullptr;
  std::atomic<bool> is_used = false;  ///< again, since others were dropped last
  std::mutex mutex;                   ///< of those who make a plan; of `plans`
  /// All that were in force: a launch may still use one.
  std::vector<std::unique_ptr<const LaunchPlan>> plans;

 private:
  friend class SizeSlots;
  SlotLife life_ = SlotLife::droppable;
  std::uint32_t lengths_ = 0;  // bit i: it is found by its first i numbers
};

/// The sizes of a family that were asked for: all that are kept, and of the others at most
/// kMostDroppable, mostly those that were used lately.
class SizeSlots {
 public:
  static constexpr std::size_t kMostDroppable = 1024;

  /// find() is called in `reclaimer`, which must outlive this.
  explicit SizeSlots(EpochReclaimer& reclaimer);
  ~SizeSlots();
  SizeSlots(const SizeSlots&) = delete;
  SizeSlots& operator=(const SizeSlots&) = delete;

  /// The slot of a size by its numbers as they were given before; null else. In a read section, in
  /// which it stays. Without a lock.
  [[nodiscard]] SizeSlot* find(std::span<const std::int64_t> numbers) const {
    SizeSlot* const slot = current_.load(std::memory_order_acquire)->find(numbers);
    if (slot != nullptr && !slot->is_used.load(std::memory_order_relaxed)) {
      slot->is_used.store(true, std::memory_order_relaxed);
    }
    return slot;
  }
  /// The slot of a size as find(), outside read sections.
  [[nodiscard]] std::shared_ptr<SizeSlot> get(std::span<const std::int64_t> numbers) const;
  /// Adds a slot of a complete size, to be found by the first `given` of its numbers too, and
  /// returns it; the one of that size where there is one, which is kept then if one of them is to
  /// be. Not in a read section.
  [[nodiscard]] std::shared_ptr<SizeSlot> add(std::shared_ptr<SizeSlot> slot, std::size_t given,
                                              SlotLife life);
  [[nodiscard]] std::vector<std::shared_ptr<SizeSlot>> all() const;
  /// Makes a slot that was to be kept droppable.
  void let_go(SizeSlot& slot);

 private:
  using Index = NumberMap<SizeSlot>;
  /// Objects that lookups no longer find, but that a thread may still hold.
  struct Dropped {
    std::unique_ptr<Index> index;
    std::vector<std::shared_ptr<SizeSlot>> slots;
  };
  void index(SizeSlot& slot, std::size_t given);
  [[nodiscard]] Dropped drop();

  EpochReclaimer& reclaimer_;
  std::atomic<Index*> current_ = nullptr;
  mutable std::mutex mutex_;  // of what follows
  std::unique_ptr<Index> index_;
  std::vector<std::shared_ptr<SizeSlot>> slots_;
  std::size_t droppable_ = 0;
};

}  // namespace tuner::dispatch
