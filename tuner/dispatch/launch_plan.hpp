// SPDX-License-Identifier: Apache-2.0
// What is to be done for a family at one size, decided once: a launch only fills in its arguments.
#pragma once

#include "tuner/backend/executor.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/scratch_sets.hpp"
#include "tuner/dispatch/served_counts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// The most arguments of a kernel that may be tensor maps.
inline constexpr std::size_t kMostTensorMaps = 16;

/// The tensor maps of the launches by a plan. A driver takes some 80 ns for each, so a thread that
/// launches with the same buffers again gets those of before. Safe to use from many threads.
class LaunchMaps {
 public:
  LaunchMaps() = default;
  explicit LaunchMaps(std::vector<family::TensorLayout> layouts);

  [[nodiscard]] std::size_t count() const { return layouts_.size(); }

  /// The maps for a launch whose arguments have these values, in order; valid until the calling
  /// thread calls this again. Fails as Executor::tensor_map. Allocates nothing unless it fails.
  [[nodiscard]] Expected<std::span<backend::TensorMapValue>, Failure> of(
      const backend::Executor& executor, std::span<const std::uint64_t> values) const;

 private:
  std::vector<family::TensorLayout> layouts_;
  std::uint64_t number_ = 0;  ///< no other's
};

/// The most arguments that a kernel may have: what a launch keeps on its stack.
inline constexpr std::size_t kMostKernelArguments = 64;

/// A launch of one of a kernel's functions.
struct FunctionLaunch {
  backend::FunctionId function{};
  family::Geometry geometry;
  /// The places of what it takes, in its order; empty where it takes everything as it stands.
  std::vector<std::size_t> taken;
};

/// A launch of a kernel.
struct KernelLaunch {
  std::vector<FunctionLaunch> steps;  ///< in this order; at least one
  std::vector<std::uint64_t> values;  ///< of all arguments; what a launch gives is filled in
  std::vector<std::size_t> given;     ///< the places among them that a launch fills in
  std::size_t first_scratch = 0;      ///< where those of `scratch` begin
  std::unique_ptr<ScratchSets> scratch = nullptr;  ///< null: it needs none
  LaunchMaps maps = {};                            ///< the last of `values`
};

/// A factor of an operation: given by the launch, or fixed.
struct Factor {
  std::optional<std::size_t> given = {};  ///< among the launch's arguments
  double fixed = 1;
};

/// A launch of the library.
struct LibraryLaunch {
  blas::Operation operation;
  /// Of each operand, among the launch's arguments; nothing where the operation has none.
  std::array<std::optional<std::size_t>, blas::kMostOperands> operands = {};
  Factor alpha, beta;
  std::optional<backend::LibraryWork> by_algorithm = {};  ///< none: as the library chooses
  std::unique_ptr<ScratchSets> workspace = nullptr;       ///< of that; null: it needs none
};

/// What serves a size, so that another process can do the same.
struct Pin {
  Rung rung = Rung::exact;
  std::string kernel = {};  ///< empty: the library
  std::string hash = {};    ///< of the kernel's code
  std::string configuration = {};
  std::string library_algorithm = {};  ///< empty: the library's own choice
};

struct LaunchPlan {
  /// The memory of its own that a launch needs; null: none.
  [[nodiscard]] ScratchSets* scratch() const {
    return kernel ? kernel->scratch.get() : library->workspace.get();
  }
  /// Whether a launch that is refused may have enqueued a part of its work: no other may then take
  /// its place, which would not find what is updated in place as it was.
  [[nodiscard]] bool may_end_halfway() const { return kernel && kernel->steps.size() > 1; }

  Answer answer;
  SizeKnowledge knowledge = SizeKnowledge::untuned;
  ChooseBy chosen_by = ChooseBy::expectation;
  std::string identity;              ///< under which a failure is remembered
  ServedCounter* counter = nullptr;  ///< of launches by it
  Pin pin = {};
  /// The library ranks before the kernel, and cannot be launched for this product, which has an
  /// epilogue, say.
  bool library_comes_first = false;
  std::optional<KernelLaunch> kernel;
  std::optional<LibraryLaunch> library;  ///< where there is no kernel
};

/// How a launch by a plan went.
enum class LaunchEnd { enqueued, no_scratch };

/// Enqueues it, in a read section of those of the plan's scratch memory. The arguments must be
/// those of the plan's family. no_scratch when it needs scratch memory and has none on the stream.
/// Fails as Executor::launch. Allocates nothing unless it fails.
[[nodiscard]] Expected<LaunchEnd, Failure> enqueue(backend::Executor& executor,
                                                   const LaunchPlan& plan,
                                                   std::span<const DispatchArgument> arguments,
                                                   backend::StreamHandle stream);

/// Enqueues a plan outside read sections, with scratch memory got where it has none. Fails with
/// launch_error where there is no memory.
[[nodiscard]] Expected<void, Failure> enqueue_anew(backend::Executor& executor,
                                                   EpochReclaimer& reclaimer,
                                                   const LaunchPlan& plan,
                                                   std::span<const DispatchArgument> arguments,
                                                   backend::StreamHandle stream);

}  // namespace tuner::dispatch
