// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/settlement.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace tuner::session {

std::optional<FinalOutcome> Settlement::settle(SizeSearch& search, const measure::FinalsPlan& plan,
                                               const Refuted& refuted) {
  using Clock = std::chrono::steady_clock;
  // It may fall out once without any fault of its own, as when its process was killed from outside.
  constexpr int kMostLosses = 2;
  int library_losses = 0;
  std::string library_problem;
  while (!search.ranking().empty()) {
    if (interrupted_()) return final_.without_final(search);
    const LibraryPart library = final_.has_library() && library_losses < kMostLosses
                                    ? LibraryPart::taken
                                    : LibraryPart::left_out;
    observer_.final_began(search.size(), Final::contenders(search).size(), library);
    const auto start = Clock::now();
    auto outcome = final_.run(search, plan, interrupted_, library);
    measure_s_ += std::chrono::duration<double>(Clock::now() - start).count();
    if (outcome) {
      if (library_losses == kMostLosses) outcome->library_problem = library_problem;
      return std::move(*outcome);
    }
    const LostContender& lost = outcome.error();
    if (lost.config) {
      refuted(search, runner_.refute(search, *lost.config, lost.failure));
    } else {
      ++library_losses;
      library_problem = lost.failure.message;
    }
  }
  return std::nullopt;
}

}  // namespace tuner::session
