// SPDX-License-Identifier: Apache-2.0
// What `tune` and `tune finalize` share: the runs of several kernels, with their progress.
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/kernel_runs.hpp"
#include "tuner/cli/model_cards.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/recorded_products.hpp"
#include "tuner/cli/tuning_tasks.hpp"
#include "tuner/core/json.hpp"
#include "tuner/session/observer.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/time_budget.hpp"
#include "tuner/store/store.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {

/// Sets how long a run searches a size and what its final rounds measure: what --effort says, less
/// what --max-evals, --patience, --energy and --strategy exhaustive say. Throws Error(usage) for a
/// word that is no effort.
void set_effort(session::RunPlan& plan, const TuneOptions& options);

/// Passes each event to several observers, in the order in which they were added.
class Observers : public session::Observer {
 public:
  void add(std::unique_ptr<session::Observer> observer) { all_.push_back(std::move(observer)); }

  [[nodiscard]] bool shows_library() const override;
  void tell(const session::Event& event) override;

 private:
  std::vector<std::unique_ptr<session::Observer>> all_;
};

/// How many configurations a run compiles at a time on this machine.
[[nodiscard]] int compile_threads(const TuneOptions& options);

/// Runs the tasks of families within the time of the command, until Ctrl-C, and says how each
/// ended.
class TuningRuns {
 public:
  /// The options must outlive it. Throws Error(usage) for options that are none, Error(failure)
  /// where --log cannot be written.
  TuningRuns(const CommonOptions& common, const TuneOptions& options);

  /// Ends what begins from now on by a time, where no option says how long to search: not
  /// --max-time,
  /// --max-evals, an exhaustive search or the effort "full". Whether none does.
  bool limit_time(std::chrono::milliseconds time);
  /// Adds an observer of the runs; null: none.
  void add_observer(std::unique_ptr<session::Observer> observer) {
    if (observer) observers_.add(std::move(observer));
  }
  /// The tasks of one family on devices of one model, in this share of the time that is left;
  /// `candidates`: of each size.
  void run(const family::Family& family, const std::vector<TuningTask>& tasks,
           const ModelCards& model, store::Store& store, session::Candidates candidates,
           double share = 1);
  /// Explains the best configuration of each size that the runs tuned on devices of this model.
  /// What cannot be explained is said on stderr.
  void explain_winners(const family::Family& family, store::Store& store, OpenedDevice& opened);
  /// Says what the confirmed kernels save of recorded programs.
  void tell_gain(std::span<const family::RecordedCalls> recordings);
  [[nodiscard]] bool is_interrupted() const { return interrupt_ && interrupt_->requested(); }
  /// Writes the document, where one is wanted.
  void print_result() const;
  /// Throws Error(no_valid_config) when nothing ended `ok`.
  [[nodiscard]] int exit_code() const;

 private:
  /// Whether kernels have a first round: where there is a time to divide and nothing else bounds
  /// their searches.
  [[nodiscard]] bool compete(const std::vector<TuningTask>& tasks,
                             session::Candidates candidates) const;
  /// What became of a task.
  void take(const family::Family& family, const family::Kernel& kernel, const std::string& device,
            const session::RunResult& result);
  void tell_result(const family::Family& family, const family::Kernel& kernel,
                   const std::string& device, const session::RunResult& result);

  const CommonOptions& common_;
  const TuneOptions& options_;
  session::TimeBudget time_;            // of the command
  session::RunPlan plan_;               // without what depends on the kernel
  std::optional<Interrupt> interrupt_;  // from the first run on: until then Ctrl-C ends the program
  Observers observers_;
  Json document_;
  std::map<std::string, std::vector<TuningTask>> won_;  // by device: the sizes with a best
  ConfirmedByFamily confirmed_;
  std::string library_;  // that the ratios are to
  bool found_ = false;
  bool evaluated_ = false;  // anything: not all was stored
  std::string first_failure_;
};

}  // namespace tuner::cli
