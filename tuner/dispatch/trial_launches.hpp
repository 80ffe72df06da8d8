// SPDX-License-Identifier: Apache-2.0
// What launches are given that no application requested.
#pragma once

#include "tuner/backend/executor.hpp"
#include "tuner/dispatch/family_table.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

namespace tuner::dispatch {

/// Memory for such launches, kept from one size to the next. For one thread at a time, which has
/// the same context each time.
class TrialMemory {
 public:
  /// The executor must outlive it.
  explicit TrialMemory(backend::Executor& executor) : executor_(executor) {}

  /// What launches find in a buffer.
  enum class Content {
    numbers,  ///< random, around zero
    zeros,    ///< nothing writes to them
    outputs,  ///< zeros at first, then what earlier launches left
  };
  /// At least so many bytes, at a multiple of 256; valid until more are asked for. `type` is that
  /// of numbers. Fails as Executor::memory.
  [[nodiscard]] Expected<std::byte*, Failure> get(Content content, ElementType type,
                                                  std::size_t size_bytes);

 private:
  struct Block {
    std::shared_ptr<void> memory;
    std::size_t size_bytes = 0;
  };
  backend::Executor& executor_;
  std::map<std::pair<Content, ElementType>, Block> blocks_;
};

/// Arguments for launches at a size, the same with other buffers in each set. All sets together are
/// larger than the device's second cache where that takes no more than 32 of them: launches that
/// take one after the other find nothing in it that they read.
class TrialLaunches {
 public:
  /// Launches by them are valid until the next of the same memory. Fails where there is no memory
  /// for one set, or an expression of the family has no value.
  [[nodiscard]] static Expected<TrialLaunches, Failure> make(backend::Executor& executor,
                                                             TrialMemory& memory,
                                                             const FamilyTable& family,
                                                             const space::Size& size);

  [[nodiscard]] const std::vector<std::vector<DispatchArgument>>& sets() const { return sets_; }
  /// What launches update in place, to be zeroed before the first.
  struct Updated {
    std::byte* begin = nullptr;
    std::size_t size_bytes = 0;
  };
  [[nodiscard]] const std::vector<Updated>& updated() const { return updated_; }

 private:
  std::vector<std::vector<DispatchArgument>> sets_;
  std::vector<Updated> updated_;
};

}  // namespace tuner::dispatch
