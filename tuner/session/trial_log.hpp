// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/store/store.hpp"

#include <cstdint>
#include <optional>

namespace tuner {

/// The journal of a session in the database: that a candidate is about to run is committed before
/// it does, and how it fared before the next one runs. Both go into one transaction where one
/// candidate follows another, as a commit costs a disk write.
class TrialLog {
 public:
  /// The store must outlive it.
  TrialLog(Store& store, std::int64_t session) : store_(store), session_(session) {}

  /// Commits that a candidate is about to run, unless `ended` did already.
  void about_to_run(const AttemptRecord& attempt);
  /// Commits how a candidate fared, and that `next`, if there is one, is about to run.
  void ended(const TrialRecord& trial, double elapsed_s, const std::optional<AttemptRecord>& next);

 private:
  Store& store_;
  std::int64_t session_;
  std::optional<AttemptRecord> announced_;
};

}  // namespace tuner
