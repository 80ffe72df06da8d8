// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/observer.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/evaluator.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// How a final at one size came out.
struct FinalOutcome {
  BestRecord best;
  Config winner;
  std::vector<FinalistRecord> finalists;  ///< fastest first; empty when there was no final
};

/// Settles one size: re-times the best of the search, the default, what was best before and the
/// library side by side. Within 1 % of the fastest is a tie; of a tie the incumbent wins, then the
/// smaller footprint in registers and shared memory, then the order of the space. At least one
/// configuration of the search must have ended `ok`.
class Final {
 public:
  Final(const Family& family, const Kernel& kernel, Backend& backend, CompilePool& pool,
        Evaluator& evaluator)
      : family_(family), kernel_(kernel), backend_(backend), pool_(pool), evaluator_(evaluator) {}

  /// The configurations that would take part, fastest first.
  [[nodiscard]] static std::vector<Config> contenders(const SizeSearch& search);

  /// Stopped before there are rounds enough for an interval, it is `without_final`.
  [[nodiscard]] Expected<FinalOutcome, Failure> run(const SizeSearch& search,
                                                    const FinalsPlan& plan,
                                                    const std::function<bool()>& stop);
  /// The fastest of the search as it was screened, without a final: what an interrupted session
  /// leaves.
  [[nodiscard]] FinalOutcome without_final(const SizeSearch& search) const;

 private:
  [[nodiscard]] BestRecord best_record(const SizeSearch& search, const Config& winner) const;

  const Family& family_;
  const Kernel& kernel_;
  Backend& backend_;
  CompilePool& pool_;
  Evaluator& evaluator_;
};

}  // namespace tuner
