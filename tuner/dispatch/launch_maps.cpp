// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/launch_maps.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <utility>

namespace tuner::dispatch {
namespace {

/// What a thread made last for one plan.
struct Made {
  std::uint64_t number = 0;  // LaunchMaps' numbers begin at 1
  std::array<std::uint64_t, kMostTensorMaps> buffers;
  std::array<backend::TensorMapValue, kMostTensorMaps> maps;
};

/// Enough for the few sizes that a loop of an application goes through. On the heap, and only of
/// threads that use tensor maps: 17 KiB in every thread's own storage would not fit where the
/// library is opened late (dlopen: "cannot allocate memory in static TLS block"), and would take
/// them off the stack of every thread where it is preloaded.
constexpr std::size_t kRemembered = 8;
using MadeLast = std::array<Made, kRemembered>;

Made& made_last(std::uint64_t number) {
  static thread_local const auto made = std::make_unique<MadeLast>();
  return (*made)[number % kRemembered];
}

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

LaunchMaps::LaunchMaps(std::vector<family::TensorLayout> layouts)
    : layouts_(std::move(layouts)), number_(next_number()) {}

Expected<std::span<backend::TensorMapValue>, Failure> LaunchMaps::of(
    const backend::Executor& executor, std::span<const std::uint64_t> values) const {
  Made& made = made_last(number_);
  bool same = made.number == number_;
  for (std::size_t i = 0; i < layouts_.size(); ++i) {
    const std::uint64_t buffer = values[layouts_[i].argument];
    same = same && made.buffers[i] == buffer;
    made.buffers[i] = buffer;
  }
  if (!same) {
    made.number = 0;  // should one of them fail
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      void* const buffer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(made.buffers[i]));
      const auto map = executor.tensor_map(layouts_[i], buffer);
      if (!map) return Unexpected(map.error());
      made.maps[i] = *map;
    }
    made.number = number_;
  }
  return std::span(made.maps).first(layouts_.size());
}

}  // namespace tuner::dispatch
