// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/pipeline.hpp"
#include "tuner/session/session.hpp"
#include "tuner/session/size_board.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/session/time_shares.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tuner::session {

/// The compilers of one machine, and the cards of a run that they work for.
struct MachineCompilers {
  /// The compiler must outlive it.
  MachineCompilers(const backend::Compiler& its_compiler, int its_threads)
      : compiler(its_compiler), threads(its_threads), pool(its_compiler, its_threads) {}

  /// How many configurations a card has in flight.
  [[nodiscard]] std::size_t ahead() const {
    // For each that can compile at once: enough that no compiler waits, and no more, since what is
    // asked late is asked with more known.
    constexpr std::size_t kAhead = 2;
    const std::size_t working = std::max<std::size_t>(1, cards);
    return std::max(kAhead, kAhead * static_cast<std::size_t>(threads) / working);
  }

  const backend::Compiler& compiler;
  const int threads;
  worker::CompilePool pool;
  std::atomic<std::size_t> cards = 0;
};

/// The searches that one card has taken from the board: for how long they go on, and how they take
/// turns. A few are open at once; where one is closed the next is taken, and begins with what won
/// at the sizes near it.
class SizeSchedule {
 public:
  /// All must outlive it. The board has its searches.
  SizeSchedule(const RunPlan& plan, const family::Kernel& kernel, MachineCompilers& compilers,
               SizeBoard& board);
  SizeSchedule(const SizeSchedule&) = delete;
  SizeSchedule& operator=(const SizeSchedule&) = delete;

  /// Takes as many sizes as may be open here.
  void open();
  /// Those of this card, closed ones without a result too, in the order taken.
  [[nodiscard]] const std::vector<SizeSearch*>& held() const { return held_; }

  /// The next candidate of any open search, as of Pipeline.
  [[nodiscard]] std::optional<Pending> next(
      const std::function<bool()>& stop, Pipeline::Order order = Pipeline::Order::compiled_first);
  /// What comes after the candidate of a search that has just been judged and is not recorded yet;
  /// none when the search may be over then.
  [[nodiscard]] const Pending* following(const SizeSearch& search) const;
  /// Has a configuration timed once more, unless its search is closed. Returns whether it is not.
  bool again(SizeSearch& search, const space::Config& config) {
    return pipeline_.again(search, config);
  }
  /// Gives the open searches what others have offered them.
  void hear_offers();
  /// That so much time of the search went into one size, or served all.
  void charge(const SizeSearch& search, TimeShares::Duration time);
  void charge_all(TimeShares::Duration time) { shares_.charge_all(time); }

  /// Sets aside so much of the time of the run for final rounds, including those held so far.
  void reserve(TimeShares::Duration time) { shares_.reserve(time); }

  /// Whether an open search is at its end, out of patience or out of time.
  [[nodiscard]] bool is_over(SizeSearch& search);
  /// Ends a search; it is held until it has its result.
  void close(SizeSearch& search);
  /// That a size has its result.
  void finish(const SizeSearch& search);
  /// Has more compiled ahead, so that the compilers have work through a final.
  void stock_up() { pipeline_.stock_up(budget_); }
  /// Returns every size to the board: this card has dropped out. What was in flight is asked again.
  void give_up();

 private:
  /// Whether patience ends after this number of further results without improvement.
  [[nodiscard]] bool is_in_vain(const SizeSearch& search, std::uint64_t more) const;
  /// Whether its time ends after this number of further results.
  [[nodiscard]] bool is_out_of_time(const SizeSearch& search, std::uint64_t more) const;

  const RunPlan& plan_;
  SizeBoard& board_;
  TimeShares shares_;
  Pipeline pipeline_;
  Pipeline::BudgetOf budget_;
  std::vector<SizeSearch*> held_;
};

}  // namespace tuner::session
