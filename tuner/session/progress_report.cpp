// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/progress_report.hpp"

#include <algorithm>
#include <utility>

namespace tuner::session {

using std::chrono::milliseconds;

void ProgressReport::ran(const SizeSearch& search, const store::TrialRecord& trial, bool new_best,
                         std::string_view card) {
  const std::scoped_lock lock(mutex_);
  ++ran_;
  tell(progress(search, trial, new_best, card));
}

void ProgressReport::reused(const SizeSearch& search, const store::TrialRecord& trial,
                            bool new_best, std::string_view card) {
  const std::scoped_lock lock(mutex_);
  ++reused_[&search];
  Progress taken = progress(search, trial, new_best, card);
  taken.reused = true;
  tell(std::move(taken));
}

void ProgressReport::timed_library(const SizeSearch& search, double ns) {
  const std::scoped_lock lock(mutex_);
  library_ns_[&search] = ns;
}

void ProgressReport::set_cards(std::size_t cards) {
  const std::scoped_lock lock(mutex_);
  cards_ = cards;
}

void ProgressReport::held_final(std::chrono::steady_clock::duration time) {
  const std::scoped_lock lock(mutex_);
  finals_ += time;
}

std::uint64_t ProgressReport::reused(const SizeSearch& search) const {
  const std::scoped_lock lock(mutex_);
  const auto found = reused_.find(&search);
  return found == reused_.end() ? 0 : found->second;
}

Progress ProgressReport::progress(const SizeSearch& search, const store::TrialRecord& trial,
                                  bool new_best, std::string_view card) {
  Progress progress;
  progress.size = search.size();
  progress.trial = &trial;
  progress.new_best = new_best;
  if (trial.time) progress.ranking_ns = search.ranking_ns(trial);
  progress.flops = family::flops_at(problem_, search.size());
  progress.bytes = family::bytes_at(problem_, search.size());
  const auto library = library_ns_.find(&search);
  if (library != library_ns_.end()) progress.library_ns = library->second;
  progress.card = card;
  progress.planned = planned_;
  Counts& counts = counts_[&search];
  all_.evaluated += search.recorded() - std::exchange(counts.evaluated, search.recorded());
  for (const auto& [outcome, count] : search.outcomes()) {
    all_.outcomes[outcome] += count - std::exchange(counts.outcomes[outcome], count);
  }
  progress.evaluated = all_.evaluated;
  progress.outcomes = all_.outcomes;
  progress.elapsed = std::chrono::duration_cast<milliseconds>(plan_.now() - start_);
  progress.remaining = remaining(progress);
  return progress;
}

/// From the rate so far; results taken from the database took no time worth counting. Where
/// patience decides, only the time allowed is known.
std::optional<milliseconds> ProgressReport::remaining(const Progress& progress) const {
  constexpr std::uint64_t kEnoughForARate = 8;
  if (ran_ < kEnoughForARate) return std::nullopt;
  const auto finals = std::chrono::duration_cast<milliseconds>(finals_);
  const auto searched = progress.elapsed - finals / static_cast<int>(cards_);
  std::optional<milliseconds> allowed;
  if (plan_.max_time) allowed = std::max(*plan_.max_time - progress.elapsed, milliseconds(0));
  if (plan_.patience) return allowed;
  const auto left = static_cast<double>(progress.planned - progress.evaluated);
  const auto estimate = milliseconds(static_cast<std::int64_t>(
      static_cast<double>(searched.count()) / static_cast<double>(ran_) * left));
  return allowed ? std::min(estimate, *allowed) : estimate;
}

void ProgressReport::tell(Progress progress) {
  observer_.tell(progress);
  if (estimate_announced_ || !progress.remaining) return;
  estimate_announced_ = true;
  observer_.tell(SearchEstimate{.search = progress.elapsed + *progress.remaining});
}

}  // namespace tuner::session
