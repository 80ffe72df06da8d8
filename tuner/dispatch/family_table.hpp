// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_catalogue.hpp"
#include "tuner/dispatch/size_slots.hpp"
#include "tuner/family/family.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// The table serves no such launch: the numbers are no size of the family, or nothing can run
/// there.
class NotServed : public DispatchError {
 public:
  using DispatchError::DispatchError;
};

/// An argument that a launch gives.
struct GivenArgument {
  std::string name;
  std::size_t place = 0;  ///< among the family's arguments
  /// Where the size names no type.
  DispatchArgument::Type type = DispatchArgument::Type::pointer;
};

/// A family of a table on a device: its kernels, ready to be planned with, and its sizes.
class FamilyTable {
 public:
  /// `outline` of one family, with sources, the kernel used last first. A kernel whose arguments or
  /// dimensions are not those of the first is left out, as is one that does not run on the backend.
  /// Launches enqueue in `reclaimer`, which must outlive this. Throws Error(usage) when a space
  /// file cannot be read.
  FamilyTable(select::CatalogueOutline outline, StalePolicy policy, EpochReclaimer& reclaimer);

  /// What is shipped of the same family; of another form of it nothing is taken. Before launches.
  void add_shipped(select::CatalogueOutline outline, StalePolicy policy, EpochReclaimer& reclaimer);
  /// What answers where nothing was tuned at the very size; null where there is nothing.
  [[nodiscard]] const FamilyTable* shipped() const { return shipped_.get(); }

  /// Read at the first call. Throws Error(usage) when it cannot be. Safe for many threads.
  [[nodiscard]] const select::Catalogue& catalogue() const { return catalogue_.complete(); }

  /// Compiled kernels of the table; null where it has none.
  [[nodiscard]] const select::TableCode* code() const { return catalogue_.code(); }

  [[nodiscard]] const family::Family& family() const { return family_; }
  [[nodiscard]] const std::vector<GivenArgument>& given() const { return given_; }
  /// Null when the table has no source of it.
  [[nodiscard]] const family::Kernel* kernel(const std::string& name) const;

  /// The values that expressions of the family see at a size.
  [[nodiscard]] space::ExpressionValues expression_values(const space::Size& size) const;
  /// What a launch at a size gives. Throws DispatchError when it is none of the family's.
  [[nodiscard]] std::vector<ArgumentInfo> arguments(std::span<const std::int64_t> size) const;
  /// Throws DispatchError unless there is one argument of the right type for each of given().
  void check_arguments(const SizeSlot& slot, std::span<const DispatchArgument> arguments) const {
    if (!std::ranges::equal(arguments, slot.given_types, {}, &DispatchArgument::type)) {
      fail_arguments(slot, arguments);
    }
  }
  /// What the arguments of a launch are at a size, one for each of given().
  [[nodiscard]] std::vector<DispatchArgument::Type> given_types(const space::Size& size) const;

  /// Throws DispatchError when a buffer that the size needs is null.
  void check_not_null(const SizeSlot& slot, std::span<const DispatchArgument> arguments) const;
  /// Which buffer is less aligned than the size claims, for people; empty when none is.
  [[nodiscard]] std::string misalignment(const SizeSlot& slot,
                                         std::span<const DispatchArgument> arguments) const;

  /// The slot of a size that was asked for before; null else. Without a lock, in a read section, in
  /// which it stays.
  [[nodiscard]] SizeSlot* find(std::span<const std::int64_t> size) const {
    return slots_.find(size);
  }
  /// The slot of a size outside read sections, made when it is new; `size` may leave out dimensions
  /// that have a default. Throws NotServed when it is none of the family's.
  [[nodiscard]] std::shared_ptr<SizeSlot> slot(std::span<const std::int64_t> size, SlotLife life);
  [[nodiscard]] std::vector<std::shared_ptr<SizeSlot>> slots() const { return slots_.all(); }
  void let_go(SizeSlot& slot) { slots_.let_go(slot); }
  [[nodiscard]] bool is_size(std::span<const std::int64_t> numbers) const;

 private:
  [[nodiscard]] space::Size complete(std::span<const std::int64_t> numbers) const;
  [[nodiscard]] AddressClaim claim(const space::Size& size) const;
  [[nodiscard]] std::vector<Realignment> realignments(const space::Size& size) const;
  [[noreturn]] void fail_arguments(const SizeSlot& slot,
                                   std::span<const DispatchArgument> arguments) const;

  std::unique_ptr<const FamilyTable> shipped_;
  FamilyCatalogue catalogue_;
  family::Family family_;
  space::DeviceAttributes device_;
  std::vector<GivenArgument> given_;
  std::vector<std::size_t> alignment_dims_;  // kinds that say how buffers are aligned
  std::map<std::string, family::Kernel> kernels_;
  /// The family's arguments, as each of the kernels was verified with them: they may differ in what
  /// they claim of where buffers begin.
  std::vector<std::vector<family::Argument>> verified_;
  SizeSlots slots_;
};

}  // namespace tuner::dispatch
