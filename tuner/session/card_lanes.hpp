// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/card_lane.hpp"
#include "tuner/session/fault_guard.hpp"
#include "tuner/session/progress_report.hpp"
#include "tuner/session/session.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace tuner::session {

/// Passes the events of several threads on, one at a time.
class OneAtATime final : public Observer {
 public:
  explicit OneAtATime(Observer& to) : to_(to) {}

  [[nodiscard]] bool shows_library() const override { return to_.shows_library(); }
  void tell(const Event& event) override {
    const std::scoped_lock lock(mutex_);
    to_.tell(event);
  }

 private:
  Observer& to_;
  std::mutex mutex_;
};

/// The lanes of a run's cards, each on a thread: those that the run begins with, and those of cards
/// that join.
class CardLanes {
 public:
  /// A lane for each of the cards. The arguments must outlive the lanes; cards that join are added
  /// to `cards`.
  CardLanes(const RunRequest& request, const BegunRun& begun, const store::Subject& subject,
            std::deque<FreeCard>& cards, SizeBoard& board);
  CardLanes(const CardLanes&) = delete;
  CardLanes& operator=(const CardLanes&) = delete;

  [[nodiscard]] Observer& observer() { return observer_; }
  [[nodiscard]] int compile_threads() const;

  /// Works until every size has its result, or the run is interrupted or fails.
  void work();
  /// What has ended the run, rethrown by the caller once the run is closed; null: nothing.
  [[nodiscard]] std::exception_ptr error() const { return error_; }
  /// Adds up what the cards have done, and the results of their sizes in the order of the board.
  void add_to(RunResult& result);
  [[nodiscard]] double elapsed_s() const { return shared_.elapsed_s(); }

 private:
  /// A card's part in the run.
  struct Lane {
    Lane(SharedRun& run, std::size_t index, FreeCard& free, MachineCompilers& its_compilers)
        : card(run, index, free, its_compilers), compilers(its_compilers) {}

    CardLane card;
    MachineCompilers& compilers;
    std::string dropped = {};  // why, if it was
  };

  /// By the index of their lanes, those that take part.
  [[nodiscard]] std::set<std::size_t> taking_part();
  /// Called with the lock held, or before there are threads.
  Lane& add_lane(FreeCard& free);
  /// Has the cards that come take part, until the run is over.
  void let_in(const std::stop_token& stop);
  /// The lane of one more card; null when it is not fit for the run, or the run is over.
  [[nodiscard]] Lane* join(const Card& card);
  /// The part of one card, whatever becomes of it.
  void work(Lane& lane);
  /// Has the others go on without a card. Returns whether there are any.
  [[nodiscard]] bool drop(Lane& lane, const Error& error);
  /// Called while an exception is handled: it ends the run.
  void fail();
  [[nodiscard]] std::uint64_t planned() const;

  const RunRequest& request_;
  std::deque<FreeCard>& cards_;
  SizeBoard& board_;
  OneAtATime observer_;
  std::atomic<bool> failed_ = false;
  std::function<bool()> stopped_;
  FaultGuard guard_;
  ProgressReport progress_;
  SharedRun shared_;
  std::map<const backend::Compiler*, std::unique_ptr<MachineCompilers>> compilers_;

  std::mutex mutex_;  // of what follows, and of cards and compilers while there are threads
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::exception_ptr error_;
};

}  // namespace tuner::session
