// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/model_cards.hpp"
#include "tuner/cli/tuning_tasks.hpp"
#include "tuner/core/json.hpp"
#include "tuner/session/kernel_standings.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/time_budget.hpp"
#include "tuner/store/store.hpp"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace tuner::cli {

/// How the kernels of a family stand after a short search of each.
struct FirstRound {
  std::vector<TuningTask> going_on;  ///< at the sizes where they do, the likeliest winners first
  Json document;
  std::string text;
};

/// The runs of a family's kernels on devices of one model, one after the other. Each has a part of
/// the time by the importance of its sizes; what it leaves goes to those behind it.
class KernelRuns {
 public:
  using Done = std::function<void(const TuningTask&, const session::RunResult&)>;

  /// All must outlive it.
  KernelRuns(const family::Family& family, const ModelCards& model, store::Store& store,
             session::Observer& observer, std::function<bool()> interrupted)
      : family_(family),
        model_(model),
        store_(store),
        observer_(observer),
        interrupted_(std::move(interrupted)) {}

  /// Searches every kernel for a short time, without final rounds, those for this backend alone
  /// first; not at sizes at which stored results tell its time. A kernel goes on at a size as
  /// kernel_standings says; where no kernel has a time, the one that leads elsewhere. After an
  /// interruption all go on.
  [[nodiscard]] FirstRound first_round(const std::vector<TuningTask>& tasks,
                                       const session::RunPlan& plan,
                                       const session::TimeBudget& time);
  /// Returns the kernels for which no time was left, at sizes that others have reached.
  [[nodiscard]] std::vector<std::string> run(const std::vector<TuningTask>& tasks,
                                             const session::RunPlan& plan,
                                             const session::TimeBudget& time, const Done& done);

 private:
  [[nodiscard]] session::KernelTimes known_times(const TuningTask& task,
                                                 const session::RunPlan& plan) const;
  [[nodiscard]] session::RunResult tune(const family::Kernel& kernel,
                                        const session::RunPlan& plan) const;

  const family::Family& family_;
  const ModelCards& model_;
  store::Store& store_;
  session::Observer& observer_;
  std::function<bool()> interrupted_;
};

}  // namespace tuner::cli
