// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/neighbours.hpp"
#include "tuner/session/size_search.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tuner::session {

/// The sizes of a run and what its cards share about them: which card searches which size, and what
/// has won where. From `take` to `finish` or `give_back` a size belongs to one card, and only that
/// card touches its search. Everything but `add` may be called from any thread.
class SizeBoard {
 public:
  /// How far a size has come on other cards.
  enum class Stage {
    fresh,     ///< nothing was run
    begun,     ///< a card that dropped out has searched it: its times are of that card
    searched,  ///< likewise, and only the final round is missing
  };
  struct Taken {
    SizeSearch* search;
    Stage stage;
  };

  /// So many sizes are searched at once on a single card, and on several together: the fewer, the
  /// more a later one can take from those before it; but the more of its questions are in flight at
  /// once, asked with less known.
  static constexpr std::size_t kAtOnce = 8;

  /// `sizes` as the searches are added. `work` is the expected work of each, above 0, in any unit:
  /// with several cards the sizes of most work come first, in steps of a factor of two, so that
  /// short ones fill the end. Among equals, and on one card, the order is that of Neighbours.
  /// `importance` of each, above 0: the most important come first, whatever their work; empty: all
  /// are alike.
  SizeBoard(std::span<const space::Size> sizes, const space::Dimensions& dims,
            std::span<const double> work, std::size_t cards,
            std::span<const double> importance = {});
  SizeBoard(const SizeBoard&) = delete;
  SizeBoard& operator=(const SizeBoard&) = delete;

  /// Adds the search at the next size. All are added before anything else is called.
  void add(const space::Size& size, space::Space space, std::string_view strategy,
           std::uint64_t seed, PriorKnowledge prior, std::optional<std::uint64_t> max_evaluations);
  /// In the order added.
  [[nodiscard]] std::deque<SizeSearch>& searches() { return searches_; }
  [[nodiscard]] const std::deque<SizeSearch>& searches() const { return searches_; }
  [[nodiscard]] std::size_t index(const SizeSearch& search) const { return index_.at(&search); }

  /// The next size for a card that is searching `open`; none when none is left, or it is for a card
  /// that has less to do.
  [[nodiscard]] std::optional<Taken> take(std::span<SizeSearch* const> open);
  /// Waits until a size can be taken. Returns false when every size is finished, or `stop` said so.
  [[nodiscard]] bool wait(const std::function<bool()>& stop);
  /// That the search at a size came to its end before its time was up, and whether it did.
  void set_ended(const SizeSearch& search);
  [[nodiscard]] bool has_ended(const SizeSearch& search) const;
  /// That a size has its result.
  void finish(const SizeSearch& search);
  /// Returns a size of a card that drops out: it is the next to be taken.
  void give_back(SizeSearch& search, Stage stage);
  /// That one more card takes sizes from now on.
  void add_card();
  /// A card has dropped out; its sizes have been returned.
  void remove_card();

  [[nodiscard]] std::size_t cards() const;
  /// Sizes that no card has taken, for each card that is left.
  [[nodiscard]] double waiting_per_card() const;
  /// The importance of the sizes that no card has taken, for each card that is left.
  [[nodiscard]] double waiting_importance_per_card() const;
  /// The importance of each size; 1 where all are alike.
  [[nodiscard]] const std::vector<double>& importance() const { return importance_; }
  [[nodiscard]] bool all_ended() const;

  /// Notes what has won so far at a size.
  void set_winners(const SizeSearch& search);
  /// What won at the sizes near one, the likeliest first.
  [[nodiscard]] std::vector<space::Config> winners_near(const SizeSearch& search) const;
  /// Offers a configuration, which has become the fastest at one size, to the sizes near it that
  /// are being searched: it is likely good there, and compiled already.
  void offer(const SizeSearch& from, const space::Config& config);
  /// Returns what was offered to a size since this was last asked.
  [[nodiscard]] std::vector<space::Config> offered(const SizeSearch& search);

 private:
  std::deque<SizeSearch> searches_;
  std::map<const SizeSearch*, std::size_t> index_;
  Neighbours neighbours_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::size_t, Stage>> waiting_;
  std::vector<double> work_;
  std::vector<double> importance_;
  double waiting_work_ = 0;
  std::size_t cards_;
  std::size_t held_ = 0;  // sizes, by all cards
  std::vector<bool> ended_;
  std::vector<bool> being_searched_;
  std::vector<std::vector<space::Config>> winners_;
  std::vector<std::vector<space::Config>> offers_;
};

}  // namespace tuner::session
