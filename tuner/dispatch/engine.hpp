// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/blas_family.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/epoch_reclaimer.hpp"
#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/forks.hpp"
#include "tuner/dispatch/gemm_kernel.hpp"
#include "tuner/dispatch/launch_capture.hpp"
#include "tuner/dispatch/loaded_kernels.hpp"
#include "tuner/dispatch/plan_maker.hpp"
#include "tuner/dispatch/scratch_sets.hpp"
#include "tuner/dispatch/settings.hpp"
#include "tuner/dispatch/size_recorder.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::dispatch {

/// What a Dispatcher does, on any executor. See dispatcher.hpp for the contract.
class Engine {
 public:
  Engine(std::unique_ptr<backend::Executor> executor, const Table& table,
         const DispatchOptions& options, DispatchSettings settings);
  ~Engine();

  [[nodiscard]] FamilyId family(std::string_view name) const;
  [[nodiscard]] std::optional<FamilyId> find_family(std::string_view name) const;
  /// The table's family "gemm" when its sizes and arguments are those of BLAS in such types.
  /// Without a lock.
  [[nodiscard]] std::optional<GemmFamily> gemm_family(GemmType type) const;
  /// As gemm_family(), of "gemm_tensor", which has epilogues.
  [[nodiscard]] std::optional<GemmFamily> gemm_tensor_family(GemmType type) const;

  std::vector<Preparation> prepare(FamilyId id, std::span<const space::Size> sizes,
                                   ChooseBy choose_by = ChooseBy::expectation);
  [[nodiscard]] space::Size parse_size(FamilyId id, std::string_view text) const;
  [[nodiscard]] bool is_size(FamilyId id, std::span<const std::int64_t> size) const;
  [[nodiscard]] std::vector<ArgumentInfo> arguments(FamilyId id,
                                                    std::span<const std::int64_t> size) const;
  [[nodiscard]] Answer answer(FamilyId id, std::span<const std::int64_t> size) const;
  /// Throws NotServed, with nothing enqueued, where the table has nothing for it.
  void launch(FamilyId id, std::span<const std::int64_t> size,
              std::span<const DispatchArgument> arguments, backend::StreamHandle stream);
  /// Launches and writes the launch with its data into a new folder; the space file there. Throws
  /// as launch and LaunchCapture, also where the stream is being captured into a graph.
  [[nodiscard]] std::filesystem::path capture_launch(
      FamilyId id, std::span<const std::int64_t> size, std::span<const DispatchArgument> arguments,
      backend::StreamHandle stream, const std::filesystem::path& folder, std::uint64_t limit_bytes);
  /// As launch() of gemm_tensor_family(type), or else of gemm_family(type), where that has the
  /// epilogue and would launch a tuned kernel; else nothing is enqueued. `arguments` are alpha, A,
  /// B, beta, C, the bias and the residual.
  [[nodiscard]] KernelUse launch_gemm_kernel(GemmType type, const blas::GemmShape& shape,
                                             const Epilogue& epilogue,
                                             std::span<const DispatchArgument, 7> arguments,
                                             backend::StreamHandle stream);
  void reload(const Table& table);
  [[nodiscard]] std::vector<Served> served() const { return counts_.all(); }
  /// Writes what the plans in force are.
  void pin(const std::filesystem::path& file) const;
  /// Of a product that the library served without a plan.
  void count_product_of_library() { products_of_library_.add_launch(); }

  /// Adds a size to what TUNER_RECORD names, when it names something: of a family that the table
  /// need not have.
  void record(const std::string& family, const space::Dimensions& dims, const space::Size& size);

  [[nodiscard]] backend::Executor& executor() { return *executor_; }
  /// False in a process that was forked since this was made: there it must not be used or
  /// destroyed.
  [[nodiscard]] bool is_of_this_process() const { return Forks::known_count() == forks_; }

 private:
  /// A table in use.
  struct TableSnapshot {
    std::vector<std::unique_ptr<FamilyTable>> families;  ///< by FamilyId; null: not in this table
    GemmFamilies gemm, gemm_tensor;
    std::map<std::string, std::string> without_sources;  ///< why not usable, by family

    [[nodiscard]] FamilyTable* find(FamilyId id) const;
    [[nodiscard]] FamilyTable& at(FamilyId id) const;  ///< throws DispatchError
  };

  [[nodiscard]] std::shared_ptr<const TableSnapshot> read(const Table& table);
  [[nodiscard]] std::shared_ptr<const TableSnapshot> snapshot() const;
  [[nodiscard]] std::size_t number_of(const std::string& family);

  void launch_uncaptured(FamilyId id, std::span<const std::int64_t> size,
                         std::span<const DispatchArgument> arguments, backend::StreamHandle stream);
  /// Launches and captures what TUNER_CAPTURE asks for, or says why it cannot.
  void launch_asked_for(FamilyId id, std::span<const std::int64_t> size,
                        std::span<const DispatchArgument> arguments, backend::StreamHandle stream);
  [[nodiscard]] LaunchCapture begin_capture(const TableSnapshot& snapshot, FamilyId id,
                                            std::span<const std::int64_t> size,
                                            std::span<const DispatchArgument> arguments,
                                            backend::StreamHandle stream,
                                            std::uint64_t limit_bytes);
  /// Whether TUNER_CAPTURE names the family or one of its kernels, for the first time.
  [[nodiscard]] bool takes_capture(FamilyId id);
  /// What may serve a launch.
  enum class ServedBy { anything, tuned_kernels };
  /// The launch of a size that is prepared; nothing where the size is not, or the launch did
  /// nothing.
  [[nodiscard]] std::optional<KernelUse> launch_prepared(
      FamilyId id, std::span<const std::int64_t> size, std::span<const DispatchArgument> arguments,
      backend::StreamHandle stream, ServedBy by);
  /// What a launch that is not prepared asks for.
  struct CheckedLaunch {
    std::shared_ptr<SizeSlot> asked;
    std::shared_ptr<SizeSlot> slot;  ///< whose claim the arguments keep; null: there is none
    bool is_captured = false;        ///< into a graph
  };
  /// Throws NotServed and DispatchError for sizes and arguments that are not the family's; fails
  /// where the stream cannot be used.
  [[nodiscard]] Expected<CheckedLaunch, Failure> check_launch(
      FamilyTable& family, std::span<const std::int64_t> size,
      std::span<const DispatchArgument> arguments, backend::StreamHandle stream) const;
  void launch_anew(FamilyId id, std::span<const std::int64_t> size,
                   std::span<const DispatchArgument> arguments, backend::StreamHandle stream);
  [[nodiscard]] KernelUse launch_kernel_anew(FamilyId id, std::span<const std::int64_t> size,
                                             std::span<const DispatchArgument> arguments,
                                             backend::StreamHandle stream);
  void launch_captured(const FamilyTable& family, const SizeSlot& slot,
                       std::span<const DispatchArgument> arguments, backend::StreamHandle stream);
  /// Launches by a plan that is used this once; where there is none, `hint` ends what is said.
  void launch_once(const FamilyTable& family, const SizeSlot& slot, PlanChoice choice,
                   std::string_view hint, std::span<const DispatchArgument> arguments,
                   backend::StreamHandle stream);
  /// As enqueue_anew, and counts; throws DispatchError when the device has failed.
  [[nodiscard]] Expected<void, Failure> enqueue(const LaunchPlan& plan,
                                                std::span<const DispatchArgument> arguments,
                                                backend::StreamHandle stream);
  /// By measurement where there is memory for it.
  [[nodiscard]] const LaunchPlan& plan_for(const FamilyTable& family, SizeSlot& slot,
                                           TrialMemory* memory = nullptr);
  /// Does not use a plan again after a failure that is not transient; throws HalfwayError where a
  /// part of the work may be done.
  void discard_failed(const FamilyTable& family, SizeSlot& slot, const LaunchPlan& plan,
                      const Failure& why);
  [[nodiscard]] Preparation prepare_one(FamilyTable& family, const space::Size& size,
                                        TrialMemory* memory);
  /// Compiles and loads on all cores what choices by measurement need.
  void load_contenders(FamilyTable& family, std::span<const space::Size> sizes);
  void note(const FamilyTable& family, const SizeSlot& slot, const LaunchPlan& plan);

  /// Throws why there is no plan: NotServed where the library may take over.
  [[noreturn]] void refuse(const std::string& why) const;
  [[nodiscard]] ServedCounter& counter_of(const FamilyTable& family, const LaunchPlan& plan);

  std::atomic<bool> awaits_capture_ = false;  // of what TUNER_CAPTURE names
  const std::uint32_t forks_ = Forks::count();
  DispatchSettings settings_;
  ServedCounts counts_;
  ServedCounter& products_of_library_ = counts_.of("gemm", Rung::library, SizeKnowledge::untuned);
  StalePolicy stale_;
  std::unique_ptr<backend::Executor> executor_;
  LoadedKernels kernels_;
  backend::BinaryCache tables_;  // what databases said, and what was measured to choose
  mutable EpochReclaimer reclaimer_;
  ScratchPool scratch_;
  MeasuredChoice measured_;
  Pins pins_;
  mutable PlanMaker maker_;
  SizeRecorder recorder_;

  std::atomic<const TableSnapshot*> current_ = nullptr;  // for launches; kept by snapshot_
  mutable std::mutex mutex_;                             // of what follows
  std::shared_ptr<const TableSnapshot> snapshot_;
  std::vector<std::string> names_;  // of all families there ever were, by FamilyId
  std::set<std::string> noted_;     // sizes that warnings named lately
};

}  // namespace tuner::dispatch
