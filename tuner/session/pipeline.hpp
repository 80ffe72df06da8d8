// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/size_search.hpp"
#include "tuner/worker/compile_pool.hpp"

#include <deque>
#include <functional>
#include <future>
#include <optional>

namespace tuner {

/// A configuration on its way to the device: being compiled, or known already.
struct Pending {
  SizeSearch* search;
  Config config;
  std::shared_future<Compiled> compiled = {};  // not valid when the result is known, or refused
  std::optional<Failure> refused = {};         // there is nothing to compile

  /// Its stored result, if it need not be run.
  [[nodiscard]] const TrialRecord* known() const { return search->known(config); }
  /// Whether nothing has to be waited for.
  [[nodiscard]] bool ready() const;
};

/// Asks the searches in turn and has what they ask for compiled ahead of the device. What is
/// compiled is taken, in the order asked: a candidate that compiles ten times longer than most
/// holds up nothing.
class Pipeline {
 public:
  /// The kernel, the searches and the pool must outlive it. `ahead` configurations at most are on
  /// their way.
  Pipeline(const Kernel& kernel, std::deque<SizeSearch>& searches, CompilePool& pool,
           std::size_t ahead)
      : kernel_(kernel), searches_(searches), pool_(pool), ahead_(ahead) {}

  /// The first configuration that is compiled; none when there is nothing left to ask, or `stop`
  /// said so while it was waited for. The searches hear how much of the budget is spent.
  [[nodiscard]] std::optional<Pending> next(const std::function<bool()>& stop, Budget budget);
  /// What `next` would return without waiting.
  [[nodiscard]] const Pending* peek() const;
  /// Puts a configuration that was run before at the end once more.
  void again(SizeSearch& search, const Config& config);
  /// Whether the searches have nothing more to ask.
  [[nodiscard]] bool exhausted() const { return exhausted_; }

 private:
  void fill(Budget budget);
  /// Takes one configuration from every search that has one. Returns whether any had.
  [[nodiscard]] bool ask_every_search(Budget budget);
  [[nodiscard]] Pending submitted(SizeSearch& search, const Config& config);

  const Kernel& kernel_;
  std::deque<SizeSearch>& searches_;
  CompilePool& pool_;
  std::size_t ahead_;
  std::deque<Pending> pending_;
  bool exhausted_ = false;
};

}  // namespace tuner
