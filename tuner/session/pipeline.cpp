// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/pipeline.hpp"

#include "tuner/core/error.hpp"

#include <algorithm>
#include <chrono>

namespace tuner {

bool Pending::ready() const {
  using namespace std::chrono_literals;
  return !compiled.valid() || compiled.wait_for(0s) == std::future_status::ready;
}

std::optional<Pending> Pipeline::next(const std::function<bool()>& stop, Budget budget) {
  fill(budget);
  if (pending_.empty()) return std::nullopt;
  auto first = std::ranges::find_if(pending_, &Pending::ready);
  while (first == pending_.end()) {
    if (stop()) return std::nullopt;
    static_cast<void>(pending_.front().compiled.wait_for(std::chrono::milliseconds(1)));
    first = std::ranges::find_if(pending_, &Pending::ready);
  }
  Pending next = std::move(*first);
  pending_.erase(first);
  fill(budget);
  return next;
}

const Pending* Pipeline::peek() const {
  const auto first = std::ranges::find_if(pending_, &Pending::ready);
  return first == pending_.end() ? nullptr : &*first;
}

void Pipeline::again(SizeSearch& search, const Config& config) {
  pending_.push_back(submitted(search, config));
}

void Pipeline::fill(Budget budget) {
  while (pending_.size() < ahead_ && ask_every_search(budget)) {
  }
  exhausted_ = pending_.empty();
}

bool Pipeline::ask_every_search(Budget budget) {
  bool any = false;
  for (SizeSearch& search : searches_) {
    const auto config = search.next(budget);
    if (!config) continue;
    any = true;
    const bool known = search.known(*config) != nullptr;
    pending_.push_back(known ? Pending{.search = &search, .config = *config}
                             : submitted(search, *config));
  }
  return any;
}

Pending Pipeline::submitted(SizeSearch& search, const Config& config) {
  Pending pending{.search = &search, .config = config};
  try {
    pending.compiled = pool_.submit(compile_job(kernel_, search.space(), config));
  } catch (const Error& error) {
    // A value that the entry or the options need does not exist for this configuration.
    pending.refused = Failure{Outcome::compile_error, error.what()};
  }
  return pending;
}

}  // namespace tuner
