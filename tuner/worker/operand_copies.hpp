// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/verify/instance.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::worker {

/// Sets of a problem's buffers, so that runs one after the other take theirs from memory: with the
/// buffers themselves, which are set 0, three times the cache, at most 256 in all. None but these
/// where there is no memory for more.
class OperandCopies {
 public:
  /// Copies of what the operands hold now. The backend must outlive it.
  OperandCopies(backend::Backend& backend, std::vector<verify::Instance::Operand> operands,
                std::size_t cache_bytes);
  /// Copies of an instance, in which the inputs of every second set are those of its `changed()`,
  /// where it has one: then there are at least two sets.
  OperandCopies(backend::Backend& backend, verify::Instance& instance, std::size_t cache_bytes);

  /// Whether they were made of these.
  [[nodiscard]] bool are_of(std::span<const verify::Instance::Operand> operands) const;

  /// Work that takes its inputs from one set and leaves its outputs in another.
  struct Run {
    backend::Work work;
    std::size_t outputs = 0;  ///< the set
    bool is_changed = false;  ///< whether the inputs are those of `changed()`
  };
  /// The work, which is on the operands, once on each set; `next`: with the outputs of the next
  /// set, where that has other inputs. Runs of one kind behind those of the other never find in an
  /// output what they leave there.
  enum class Outputs { own, next };
  [[nodiscard]] std::vector<Run> runs(const backend::Work& work, Outputs outputs) const;
  /// The outputs of a set, as Instance::inspect_copied takes them, and the poison that they held
  /// at first.
  [[nodiscard]] std::vector<backend::Region> outputs(std::size_t set) const;
  [[nodiscard]] const verify::Poison& poison() const { return poison_; }

 private:
  void copy_to_sets(std::size_t first, std::size_t step);
  [[nodiscard]] backend::Region region(std::size_t set, std::size_t operand) const;
  [[nodiscard]] backend::Work moved(const backend::Work& work, std::size_t inputs,
                                    std::size_t outputs) const;
  [[nodiscard]] std::size_t sets() const { return copies_.size() + 1; }

  backend::Backend& backend_;
  std::vector<verify::Instance::Operand> operands_;
  std::vector<std::size_t> offsets_;  // of each operand in a copy
  std::vector<backend::Buffer> copies_;
  verify::Poison poison_{.kind = verify::nan_poison, .seed = 0};
  bool has_changed_ = false;
};

}  // namespace tuner::worker
