// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/launch_plan.hpp"

#include "tuner/backend/launch_error.hpp"

#include <array>
#include <atomic>
#include <bit>
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

Expected<LaunchEnd, Failure> ended(const Expected<void, Failure>& done) {
  if (done) return LaunchEnd::enqueued;
  return Unexpected(done.error());
}

void* pointer(const DispatchArgument& argument) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(argument.bits()));
}

Expected<LaunchEnd, Failure> enqueue_kernel(backend::Executor& executor, const KernelLaunch& launch,
                                            std::span<const DispatchArgument> arguments,
                                            StreamHandle stream) {
  std::array<std::uint64_t, kMostKernelArguments> values;
  std::array<void*, kMostKernelArguments> addresses;
  for (std::size_t i = 0; i < launch.values.size(); ++i) {
    values[i] = launch.values[i];
    addresses[i] = &values[i];
  }
  for (std::size_t i = 0; i < launch.given.size(); ++i) {
    const std::size_t place = launch.given[i];
    values[place] = arguments[i].bits();
    if (arguments[i].type() == DispatchArgument::Type::array) {
      addresses[place] = pointer(arguments[i]);
    }
  }
  if (launch.scratch != nullptr) {
    const auto state = executor.state(stream);
    if (!state) return Unexpected(state.error());
    if (!launch.scratch->find(*state, values.data() + launch.first_scratch)) {
      return LaunchEnd::no_scratch;
    }
  }
  if (launch.maps.count() > 0) {
    const auto maps = launch.maps.of(executor, values);
    if (!maps) return Unexpected(maps.error());
    const std::size_t first = launch.values.size() - maps->size();
    for (std::size_t i = 0; i < maps->size(); ++i) addresses[first + i] = &(*maps)[i];
  }
  for (std::size_t i = 0; i < launch.steps.size(); ++i) {
    const FunctionLaunch& step = launch.steps[i];
    std::array<void*, kMostKernelArguments> picked;
    for (std::size_t j = 0; j < step.taken.size(); ++j) picked[j] = addresses[step.taken[j]];
    void** const taken = step.taken.empty() ? addresses.data() : picked.data();
    const auto done = executor.launch(step.function, step.geometry, taken, stream);
    if (done) continue;
    Failure failure = backend::in_step(done.error(), i, launch.steps.size());
    if (i > 0) failure.is_transient = false;  // it cannot be taken back, nor done again
    return Unexpected(std::move(failure));
  }
  return LaunchEnd::enqueued;
}

double value_of(const DispatchArgument& argument) {
  const auto word = static_cast<std::uint32_t>(argument.bits());
  switch (argument.type()) {
    case DispatchArgument::Type::f32:
      return std::bit_cast<float>(word);
    case DispatchArgument::Type::i32:
      return std::bit_cast<std::int32_t>(word);
    default:
      return std::bit_cast<double>(argument.bits());
  }
}

Expected<LaunchEnd, Failure> enqueue_library(backend::Executor& executor,
                                             const LibraryLaunch& launch,
                                             std::span<const DispatchArgument> arguments,
                                             StreamHandle stream) {
  const auto factor = [&](const Factor& it) {
    return it.given ? value_of(arguments[*it.given]) : it.fixed;
  };
  blas::Addresses operands{.alpha = factor(launch.alpha), .beta = factor(launch.beta)};
  for (std::size_t i = 0; i < launch.operands.size(); ++i) {
    if (launch.operands[i]) operands[i] = pointer(arguments[*launch.operands[i]]);
  }
  if (!launch.by_algorithm) {
    return ended(executor.run_library(launch.operation, operands, stream));
  }
  std::uint64_t workspace = 0;
  if (launch.workspace != nullptr) {
    const auto state = executor.state(stream);
    if (!state) return Unexpected(state.error());
    if (!launch.workspace->find(*state, &workspace)) return LaunchEnd::no_scratch;
  }
  return ended(launch.by_algorithm->enqueue(
      operands, reinterpret_cast<void*>(static_cast<std::uintptr_t>(workspace)), stream));
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

Expected<LaunchEnd, Failure> enqueue(backend::Executor& executor, const LaunchPlan& plan,
                                     std::span<const DispatchArgument> arguments,
                                     StreamHandle stream) {
  return plan.kernel ? enqueue_kernel(executor, *plan.kernel, arguments, stream)
                     : enqueue_library(executor, *plan.library, arguments, stream);
}

Expected<void, Failure> enqueue_anew(backend::Executor& executor, EpochReclaimer& reclaimer,
                                     const LaunchPlan& plan,
                                     std::span<const DispatchArgument> arguments,
                                     StreamHandle stream) {
  for (;;) {
    {
      const auto section = reclaimer.enter();
      const auto end = enqueue(executor, plan, arguments, stream);
      if (!end) return Unexpected(end.error());
      if (*end == LaunchEnd::enqueued) return {};
    }
    // Another plan may take what this one gets before it is used.
    const auto state = executor.state(stream);
    if (!state) return Unexpected(state.error());
    auto provided = plan.scratch()->provide(*state, stream);
    if (!provided) return provided;
  }
}

}  // namespace tuner::dispatch
