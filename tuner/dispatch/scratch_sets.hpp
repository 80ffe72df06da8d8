// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/executor.hpp"
#include "tuner/core/number_map.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tuner {

/// The scratch buffers of one configuration at one size: a set for each stream and for each capture
/// of one, because launches that run at once must not share.
class ScratchSets {
 public:
  /// One address for each buffer, in the kernel's order.
  using Set = std::vector<std::uint64_t>;

  /// `buffer_bytes` of each buffer. The executor must outlive this.
  ScratchSets(Executor& executor, std::vector<std::size_t> buffer_bytes)
      : executor_(executor), buffer_bytes_(std::move(buffer_bytes)) {}

  /// That of a stream. Null when it has none yet and either a capture is under way and nothing is
  /// spare, or there is no memory.
  [[nodiscard]] const Set* on(const StreamState& state);
  /// Makes spare sets for captures, unless they would be large. Not during a capture.
  void prepare();

 private:
  [[nodiscard]] const Set* make();

  Executor& executor_;
  std::vector<std::size_t> buffer_bytes_;
  NumberMap<const Set> by_stream_;
  std::mutex mutex_;  // of what follows
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<std::unique_ptr<const Set>> sets_;
  std::vector<const Set*> spare_;
};

/// Sets by who owns them. They stay while it lives: graphs may hold their addresses, and a table
/// that is read again finds them as its launches left them.
class ScratchPool {
 public:
  explicit ScratchPool(Executor& executor) : executor_(executor) {}

  /// `owner` tells one configuration at one size from all others.
  [[nodiscard]] ScratchSets& sets(const std::string& owner,
                                  const std::vector<std::size_t>& buffer_bytes);

 private:
  Executor& executor_;
  std::mutex mutex_;
  std::map<std::string, ScratchSets> sets_;
};

}  // namespace tuner
