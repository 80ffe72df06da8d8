// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/owned.hpp"
#include "tuner/verify/memory_plan.hpp"

#include <memory>

namespace tuner::verify {

/// The device memory of one instance: what a candidate gets, what it never gets (the reference),
/// and the table of parts for the checking kernels, with the place for their reports behind it.
class CheckedMemory {
 public:
  /// The backend must outlive the memory. Throws Error(failure) when there is not enough.
  CheckedMemory(backend::Backend& backend, MemoryPlan plan);
  /// Gives a candidate the same memory as `other`, of an equal plan. The rest is its own.
  CheckedMemory(backend::Backend& backend, MemoryPlan plan, const CheckedMemory& other);

  [[nodiscard]] const MemoryPlan& plan() const { return plan_; }
  /// From now on outputs must equal what is expected: the errors allowed do not count.
  void require_equality(backend::Backend& backend);
  [[nodiscard]] backend::Region candidate(std::size_t offset = 0) const {
    return {candidate_->id(), offset};
  }
  [[nodiscard]] backend::Region reference(std::size_t offset = 0) const {
    return {reference_.id(), offset};
  }
  /// What the candidate has of each of so many arguments; of those that are not compared nothing.
  [[nodiscard]] std::vector<backend::Region> candidates(std::size_t arguments) const;
  [[nodiscard]] std::size_t size_bytes() const {
    return candidate_->size_bytes() + reference_.size_bytes() + table_.size_bytes();
  }

  /// The table; then for the kernel `inspect` the sums it gathers, its reports, and a count.
  [[nodiscard]] backend::Region table() const { return table_.id(); }
  [[nodiscard]] backend::Region gathered() const;
  [[nodiscard]] backend::Region reports() const;
  [[nodiscard]] backend::Region blocks_done() const;

 private:
  void write_table(backend::Backend& backend);

  MemoryPlan plan_;
  std::shared_ptr<backend::Buffer> candidate_;
  backend::Buffer reference_, table_;
};

}  // namespace tuner::verify
