// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/progress_report.hpp"

#include <algorithm>

namespace tuner::session {

using std::chrono::milliseconds;

void ProgressReport::ran(const SizeSearch& search, const store::TrialRecord& trial, bool new_best) {
  ++ran_;
  tell(progress(search, trial, new_best));
}

void ProgressReport::reused(const SizeSearch& search, const store::TrialRecord& trial,
                            bool new_best) {
  ++reused_[&search];
  Progress taken = progress(search, trial, new_best);
  taken.reused = true;
  tell(std::move(taken));
}

std::uint64_t ProgressReport::reused(const SizeSearch& search) const {
  const auto found = reused_.find(&search);
  return found == reused_.end() ? 0 : found->second;
}

Progress ProgressReport::progress(const SizeSearch& search, const store::TrialRecord& trial,
                                  bool new_best) const {
  Progress progress;
  progress.size = search.size();
  progress.trial = &trial;
  progress.new_best = new_best;
  progress.flops = family::flops_at(problem_, search.size());
  progress.bytes = family::bytes_at(problem_, search.size());
  for (const SizeSearch& each : searches_) {
    progress.evaluated += each.recorded();
    progress.planned += each.planned();
    for (const auto& [outcome, count] : each.outcomes()) progress.outcomes[outcome] += count;
  }
  progress.elapsed = std::chrono::duration_cast<milliseconds>(Clock::now() - start_);
  progress.remaining = remaining(progress);
  return progress;
}

/// From the rate so far; results taken from the database took no time worth counting. Where
/// patience decides, only the time allowed is known.
std::optional<milliseconds> ProgressReport::remaining(const Progress& progress) const {
  constexpr std::uint64_t kEnoughForARate = 8;
  if (ran_ < kEnoughForARate) return std::nullopt;
  const auto searched = progress.elapsed - std::chrono::duration_cast<milliseconds>(finals_);
  std::optional<milliseconds> allowed;
  if (plan_.max_time) allowed = std::max(*plan_.max_time - searched, milliseconds(0));
  if (plan_.patience) return allowed;
  const double left = static_cast<double>(progress.planned - progress.evaluated);
  const auto estimate = milliseconds(static_cast<std::int64_t>(
      static_cast<double>(searched.count()) / static_cast<double>(ran_) * left));
  return allowed ? std::min(estimate, *allowed) : estimate;
}

void ProgressReport::tell(Progress progress) {
  observer_.progressed(progress);
  if (estimate_announced_ || !progress.remaining) return;
  estimate_announced_ = true;
  observer_.estimated(progress.elapsed + *progress.remaining);
}

}  // namespace tuner::session
