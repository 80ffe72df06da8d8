// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/size_search.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tuner::session {

/// A configuration in flight to the device: being compiled, or known already.
struct Pending {
  SizeSearch* search;
  space::Config config;
  std::string config_json;  ///< its canonical form: the key of its results
  std::string compile_key = {};
  std::shared_future<worker::Compiled> compiled =
      {};                               // not valid when the result is known, or refused
  std::optional<Failure> refused = {};  // there is nothing to compile

  /// Its stored result, if it need not be run.
  [[nodiscard]] const store::TrialRecord* known() const { return search->known(config_json); }
  /// Whether nothing has to be waited for.
  [[nodiscard]] bool ready() const;
};

/// Asks the open searches in turn and has what they ask for compiled ahead of the device. What is
/// compiled is taken, in the order asked: a candidate that compiles ten times longer than most
/// holds up nothing.
class Pipeline {
 public:
  /// How much of the budget of a search is spent.
  using BudgetOf = std::function<search::Budget(const SizeSearch&)>;
  /// The most configurations of one search in flight: proposals made with fewer results are worse
  /// (docs/reference/search.md).
  static constexpr std::size_t kMostOfOne = 16;

  /// The kernel and the pool must outlive it, and so must the searches that are open. About
  /// `ahead()` configurations are in flight, of all searches together.
  Pipeline(const family::Kernel& kernel, worker::CompilePool& pool,
           std::function<std::size_t()> ahead)
      : kernel_(kernel), pool_(pool), ahead_(std::move(ahead)) {}

  void open(SizeSearch& search) { searches_.push_back(&search); }
  /// Asks it no more. Returns its configurations in flight, which are dropped.
  std::vector<space::Config> close(const SizeSearch& search);

  /// Which configuration is next: the first that is compiled, of all searches, or of those that
  /// are the first of their search.
  enum class Order { compiled_first, as_asked };

  /// The next configuration; none when there is nothing left to ask, or `stop` said so while it was
  /// waited for.
  [[nodiscard]] std::optional<Pending> next(const std::function<bool()>& stop,
                                            const BudgetOf& budget,
                                            Order order = Order::compiled_first);
  /// What `next` would return without waiting, compiled first.
  [[nodiscard]] const Pending* peek() const;
  /// Asks for twice as many as usual, so that the compilers have work while nothing is taken.
  void stock_up(const BudgetOf& budget) { fill(2 * ahead_(), budget); }
  /// Puts a configuration that was run before at the end once more, if its search is still open.
  /// Returns whether it is.
  bool again(SizeSearch& search, const space::Config& config);
  /// Whether no configuration of an open search is in flight and none is left to ask.
  [[nodiscard]] bool exhausted(SizeSearch& search, const BudgetOf& budget);

 private:
  void fill(std::size_t ahead, const BudgetOf& budget);
  /// The next one that nothing has to be waited for; the end when there is none.
  std::deque<Pending>::iterator first_ready(Order order);
  [[nodiscard]] std::size_t in_flight(const SizeSearch& search) const;
  /// Takes one configuration from a search. Returns whether it had one.
  bool ask(SizeSearch& search, const BudgetOf& budget);
  [[nodiscard]] Pending pending_of(SizeSearch& search, const space::Config& config) const;
  /// Has it compiled.
  void submit(Pending& pending);

  const family::Kernel& kernel_;
  worker::CompilePool& pool_;
  std::function<std::size_t()> ahead_;
  std::vector<SizeSearch*> searches_;  // the open ones
  std::deque<Pending> pending_;
};

}  // namespace tuner::session
