// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/settlement.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace tuner {

std::optional<FinalOutcome> Settlement::settle(SizeSearch& search, const FinalsPlan& plan,
                                               const Refuted& refuted) {
  using Clock = std::chrono::steady_clock;
  while (!search.ranking().empty()) {
    if (interrupted_()) return final_.without_final(search);
    observer_.final_began(search.size(), Final::contenders(search).size());
    const auto start = Clock::now();
    auto outcome = final_.run(search, plan, interrupted_);
    measure_s_ += std::chrono::duration<double>(Clock::now() - start).count();
    if (outcome) return std::move(*outcome);
    drop(search, outcome.error(), refuted);
  }
  return std::nullopt;
}

/// The library has no trial: it may fall out once, as when its process was killed from outside.
void Settlement::drop(SizeSearch& search, const LostContender& lost, const Refuted& refuted) {
  if (lost.config) {
    refuted(search, runner_.refute(search, *lost.config, lost.failure));
    return;
  }
  if (!std::exchange(library_fell_out_, true)) return;
  throw Error(ErrorCode::failure,
              fmt::format("the final at {} broke off: {} could not be timed: {}",
                          display(search.size(), search.space().definition().dims),
                          device_.environment().library, lost.failure.message));
}

}  // namespace tuner
