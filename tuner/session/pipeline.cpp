// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/pipeline.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <chrono>
#include <set>

namespace tuner::session {

bool Pending::ready() const {
  using namespace std::chrono_literals;
  return !compiled.valid() || compiled.wait_for(0s) == std::future_status::ready;
}

std::deque<Pending>::iterator Pipeline::first_ready(Order order) {
  if (order == Order::compiled_first) return std::ranges::find_if(pending_, &Pending::ready);
  std::set<const SizeSearch*> seen;
  return std::ranges::find_if(pending_, [&](const Pending& pending) {
    return seen.insert(pending.search).second && pending.ready();
  });
}

std::optional<Pending> Pipeline::next(const std::function<bool()>& stop, const BudgetOf& budget,
                                      Order order) {
  fill(ahead_(), budget);
  if (pending_.empty()) return std::nullopt;
  auto first = first_ready(order);
  while (first == pending_.end()) {
    if (stop()) return std::nullopt;
    static_cast<void>(pending_.front().compiled.wait_for(std::chrono::milliseconds(1)));
    first = first_ready(order);
  }
  Pending next = std::move(*first);
  pending_.erase(first);
  fill(ahead_(), budget);
  return next;
}

const Pending* Pipeline::peek() const {
  const auto first = std::ranges::find_if(pending_, &Pending::ready);
  return first == pending_.end() ? nullptr : &*first;
}

std::vector<space::Config> Pipeline::close(const SizeSearch& search) {
  std::erase(searches_, &search);
  std::vector<space::Config> dropped;
  for (const Pending& pending : pending_) {
    if (pending.search == &search) dropped.push_back(pending.config);
  }
  std::erase_if(pending_, [&](const Pending& pending) { return pending.search == &search; });
  return dropped;
}

std::size_t Pipeline::in_flight(const SizeSearch& search) const {
  return static_cast<std::size_t>(std::ranges::count(pending_, &search, &Pending::search));
}

bool Pipeline::again(SizeSearch& search, const space::Config& config) {
  if (std::ranges::find(searches_, &search) == searches_.end()) return false;
  submit(pending_.emplace_back(pending_of(search, config)));
  return true;
}

bool Pipeline::exhausted(SizeSearch& search, const BudgetOf& budget) {
  return std::ranges::find(pending_, &search, &Pending::search) == pending_.end() &&
         !ask(search, budget);
}

void Pipeline::fill(std::size_t ahead, const BudgetOf& budget) {
  bool any = true;
  while (any && pending_.size() < ahead) {
    any = false;
    for (SizeSearch* const search : searches_) {
      if (in_flight(*search) < kMostOfOne) any = ask(*search, budget) || any;
    }
  }
}

bool Pipeline::ask(SizeSearch& search, const BudgetOf& budget) {
  const auto config = search.next(budget(search));
  if (!config) return false;
  Pending pending = pending_of(search, *config);
  if (pending.known() == nullptr) submit(pending);
  pending_.push_back(std::move(pending));
  return true;
}

Pending Pipeline::pending_of(SizeSearch& search, const space::Config& config) const {
  return {.search = &search,
          .config = config,
          .config_json = space::canonical_json(*kernel_.space, config)};
}

void Pipeline::submit(Pending& pending) {
  try {
    family::CompileJob job = family::compile_job(kernel_, pending.search->space(), pending.config);
    pending.compile_key = job.key;
    pending.compiled = pool_.submit(std::move(job));
  } catch (const Error& error) {
    // A value that the entry or the options need does not exist for this configuration.
    pending.refused = Failure{Outcome::compile_error, error.what()};
  }
}

}  // namespace tuner::session
