// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/memory_plan.hpp"

namespace tuner {

/// The device memory of one instance: what a candidate gets, what it never gets (the reference),
/// and the table of parts for the checking kernels, with the place for their reports behind it.
class CheckedMemory {
 public:
  /// The backend must outlive the memory. Throws Error(failure) when there is not enough.
  CheckedMemory(Backend& backend, MemoryPlan plan);

  [[nodiscard]] const MemoryPlan& plan() const { return plan_; }
  /// From now on outputs must equal what is expected: the errors allowed do not count.
  void require_equality(Backend& backend);
  [[nodiscard]] Region candidate(std::size_t offset = 0) const { return {candidate_.id(), offset}; }
  [[nodiscard]] Region reference(std::size_t offset = 0) const { return {reference_.id(), offset}; }
  [[nodiscard]] std::size_t size_bytes() const {
    return candidate_.size_bytes() + reference_.size_bytes() + table_.size_bytes();
  }

  /// The table; then for the kernel `inspect` the sums it gathers, its reports, and a count.
  [[nodiscard]] Region table() const { return table_.id(); }
  [[nodiscard]] Region gathered() const;
  [[nodiscard]] Region reports() const;
  [[nodiscard]] Region blocks_done() const;

 private:
  void write_table(Backend& backend);

  MemoryPlan plan_;
  Buffer candidate_, reference_, table_;
};

}  // namespace tuner
