// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/measure/launch_audit.hpp"
#include "tuner/verify/verifier.hpp"
#include "tuner/worker/operand_copies.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <vector>

namespace tuner::worker {

/// A verified candidate's launch on the instance on which it is timed.
struct TimedCandidate {
  backend::Launch launch;
  verify::Scratch* scratch = nullptr;  ///< its own; null where it has none
};

/// The audit of one candidate. Before every launch that is timed alone, the variables of its image,
/// once one has changed, and its scratch memory get their first content, and outputs and guard
/// zones poison of a kind drawn anew, as in checks. Of these launches some are inspected, and after
/// every series outputs of some sets.
class TimedLaunches : public measure::LaunchAudit {
 public:
  /// All must outlive it. `copies` makes the copies of the instance when they are first needed;
  /// `random` draws which launches are looked at.
  TimedLaunches(backend::Backend& backend, verify::Instance& instance, TimedCandidate candidate,
                std::function<OperandCopies&()> copies, std::mt19937_64& random)
      : backend_(backend),
        instance_(instance),
        candidate_(std::move(candidate)),
        copies_(std::move(copies)),
        random_(random) {}

  [[nodiscard]] backend::Work before_launch() override;
  [[nodiscard]] Expected<void, Failure> after_launch() override;
  [[nodiscard]] std::vector<backend::Work> before_series() override;
  [[nodiscard]] Expected<void, Failure> after_series(std::int64_t runs) override;
  void before_repetition() override;
  [[nodiscard]] Expected<void, Failure> after_repetition() override;

  /// Of a candidate that has state: the next two, in this order.
  [[nodiscard]] Expected<void, Failure> check_state();

 private:
  /// Runs a candidate that has state many times without restoring it, and looks at the next launch:
  /// what counts its launches may compute nothing after some.
  [[nodiscard]] Expected<void, Failure> check_many_launches();
  /// `implausible` where a launch takes much less time when it finds the state that the launch
  /// before left: then it takes over results. For a candidate that was found right.
  [[nodiscard]] Expected<void, Failure> compare_times_with_state();

  /// Whether launches leave something for the next one, as far as they have shown.
  [[nodiscard]] bool has_state();
  void restore_scratch();
  [[nodiscard]] verify::PoisonKind any_poison();
  [[nodiscard]] bool one_in(unsigned share) { return random_() % share == 0; }
  [[nodiscard]] Expected<void, Failure> inspect(const char* when);
  /// Launches that nobody times, right behind others: on other inputs over old outputs, and on new
  /// poison.
  [[nodiscard]] Expected<void, Failure> check_next_launches();
  /// The cold time of a launch behind as many others; with a kernel, on what its variables and the
  /// scratch memory held at first.
  [[nodiscard]] Expected<double, Failure> time_behind(std::uint64_t launches,
                                                      std::optional<backend::KernelId> restores);

  backend::Backend& backend_;
  verify::Instance& instance_;
  TimedCandidate candidate_;
  std::function<OperandCopies&()> copies_;
  std::mt19937_64& random_;
  bool has_state_ = false;
  std::vector<OperandCopies::Run> runs_;  // of the series
};

}  // namespace tuner::worker
