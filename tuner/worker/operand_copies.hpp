// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"
#include "tuner/backend/owned.hpp"
#include "tuner/verify/instance.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace tuner::worker {

/// Copies of a problem's buffers, so that runs one after the other take theirs from memory: with
/// the buffers themselves three times the cache, at most 256 in all. None where there is no memory
/// for them.
class OperandCopies {
 public:
  /// They hold what the operands hold now. The backend must outlive it.
  OperandCopies(backend::Backend& backend, std::vector<verify::Instance::Operand> operands,
                std::size_t cache_bytes);

  /// Whether they were made of these.
  [[nodiscard]] bool are_of(std::span<const verify::Instance::Operand> operands) const;
  /// The work, which is on the operands, and the same on each of the copies.
  [[nodiscard]] std::vector<backend::Work> works(const backend::Work& work) const;

 private:
  std::vector<verify::Instance::Operand> operands_;
  std::vector<std::size_t> offsets_;  // of each operand in a copy
  std::vector<backend::Buffer> copies_;
};

}  // namespace tuner::worker
