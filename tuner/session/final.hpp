// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/session/line_up.hpp"
#include "tuner/session/size_search.hpp"
#include "tuner/worker/compile_pool.hpp"
#include "tuner/worker/device_worker.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tuner::session {

/// How a final at one size came out.
struct FinalOutcome {
  store::BestRecord best;
  space::Config winner;
  std::vector<store::FinalistRecord> finalists;  ///< fastest first; empty when there was no final
  std::string library_problem = {};              ///< why the library had to be left out, if so
};

/// Settles one size: re-times the best of the search, the default, what was best before and the
/// library side by side. The best are eight, or fewer where a round of them would take more than
/// 0.2 s, but at least three. Within 1 % of the fastest is a tie; of a tie the incumbent wins, then
/// the smaller footprint in registers and shared memory, then the order of the space. At least one
/// configuration of the search must have ended `ok`.
class Final {
 public:
  Final(const family::Family& family, const family::Kernel& kernel, worker::CompilePool& pool,
        worker::DeviceWorker& device)
      : family_(family), kernel_(kernel), pool_(pool), device_(device) {}

  /// Whether the family's reference is an operation of a library, which then takes part.
  [[nodiscard]] bool has_library() const {
    return family::library_arguments(family_.check) != nullptr;
  }
  /// The configurations that would take part, fastest first.
  [[nodiscard]] static std::vector<space::Config> contenders(const SizeSearch& search);

  /// Stopped before there are rounds enough for an interval, it is `without_final`. When a
  /// contender falls out the final is void: it can be run again without that one.
  [[nodiscard]] Expected<FinalOutcome, LostContender> run(const SizeSearch& search,
                                                          const measure::FinalsPlan& plan,
                                                          const std::function<bool()>& stop,
                                                          LibraryPart library);
  /// The fastest of the search as it was screened, without a final: what an interrupted session
  /// leaves.
  [[nodiscard]] FinalOutcome without_final(const SizeSearch& search) const;

 private:
  [[nodiscard]] FinalOutcome outcome(const SizeSearch& search,
                                     const std::vector<space::Config>& configs,
                                     const LineUpTimes& times) const;
  [[nodiscard]] store::BestRecord best_record(const SizeSearch& search,
                                              const space::Config& winner) const;

  const family::Family& family_;
  const family::Kernel& kernel_;
  worker::CompilePool& pool_;
  worker::DeviceWorker& device_;
};

}  // namespace tuner::session
