// SPDX-License-Identifier: Apache-2.0
// Times the configurations that may become members of a portfolio at the sizes that it is for.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/select/portfolio.hpp"
#include "tuner/session/session.hpp"
#include "tuner/store/store.hpp"
#include "tuner/worker/device_worker.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tuner::session {

struct PortfolioCandidate {
  const family::Kernel* kernel = nullptr;
  space::Config config;
  std::vector<space::Size> won_at = {};  ///< where it was the fastest of its kernel before
  bool was_member = false;  ///< of another portfolio of the family: timed before what won somewhere

  [[nodiscard]] std::string config_json() const {
    return space::canonical_json(*kernel->space, config);
  }
};

struct PortfolioPlan {
  std::vector<space::Size> sizes;              ///< each once, at least one without `present`
  std::vector<PortfolioCandidate> candidates;  ///< each once
  std::vector<const family::Kernel*> unknown;  ///< kernels to search for candidates first
  /// Of the same distribution, none among `sizes`: the members are timed here while time is left.
  std::vector<space::Size> further = {};
  /// The candidates that are members already, by select::types_of their sizes. With any of them,
  /// nothing is chosen or searched, and only the times at further sizes are taken.
  std::map<std::string, std::vector<std::size_t>> present = {};
  /// Sizes of present portfolios at which the library was not timed back to back.
  std::vector<space::Size> without_library = {};
  std::size_t members = 16;  ///< as many sizes are searched at most
  std::uint64_t seed = 0;    ///< of inputs and searches
  int compile_threads = 1;
  /// After which no further trial begins, but for one at the first size.
  std::chrono::milliseconds max_time{600'000};
  std::string command = {};  ///< recorded
  RunClock now = std::chrono::steady_clock::now;
};

/// What one size came to.
struct PortfolioSizeTimed {
  std::size_t number = 0;   ///< from 1
  bool is_further = false;  ///< the number is among PortfolioPlan::further
  space::Size size;
  std::size_t trials = 0;  ///< run now
  std::size_t timed = 0;   ///< candidates with a time
  std::optional<double> best_ns = {}, library_ns = {};
  std::string problem = {};  ///< why nothing could be timed
};

/// What a search for a further candidate came to.
struct PortfolioSearch {
  space::Size size;
  const family::Kernel* kernel = nullptr;
  std::size_t trials = 0;
  std::optional<double> before_ns = {};  ///< of the fastest candidate of any kernel
  std::optional<double> found_ns = {};
};

struct PortfolioObserver {
  std::function<void(const PortfolioSizeTimed&)> size_timed;
  std::function<void(const PortfolioSearch&)> searched;
};

/// A size at which members alone were timed, all that may be among the fastest.
struct FurtherSize {
  space::Size size;
  std::optional<double> member_ns = {};  ///< of the fastest
  std::optional<double> library_ns = {};
};

/// Times are back to back where executions one after another can be timed, else of single launches
/// from a cold cache.
struct PortfolioTimes {
  std::vector<PortfolioCandidate> candidates;
  std::vector<space::Size> sizes;  ///< that were finished; the first in any case
  select::TimeMatrix matrix;       ///< of these; all weights 1
  std::vector<FurtherSize> further = {};
  std::map<space::Size, double> library_ns = {};  ///< at those of PortfolioPlan::without_library
  std::size_t trials = 0;                         ///< run now; the others were known
  std::map<Outcome, std::uint64_t> failures = {};
};

/// Kernels of which nothing is known are searched at sizes of median and quartile work, in 30 % of
/// the time: the best of each size are further candidates. Then, sizes far from each other first,
/// the candidates that may be among the fastest at a size (expected_loss) are verified and timed
/// there, as a trial is; a result that the database has is not repeated. In 30 % of the time and
/// what is left before, kernels are searched at the sizes at which the candidates are slowest
/// beside the library; what is found is timed at the other sizes alike. Then those that would be
/// members are timed at all sizes, and in the time that is left, 15 % at least, those of them that
/// may be among the fastest are timed at further sizes: the more sizes are known, the better are
/// the choices at others (select::GainModel). With PortfolioPlan::present this last step is all,
/// but that the library is timed where it was not. Every trial is stored, in a run of its kernel
/// without a final round. The library is timed at every size. `stop` is asked between trials.
/// Throws Error for what is no candidate's fault.
[[nodiscard]] PortfolioTimes time_portfolio(const family::Family& family, const PortfolioPlan& plan,
                                            worker::DeviceWorker& device,
                                            const backend::Compiler& compiler, store::Store& store,
                                            const PortfolioObserver& observer,
                                            const std::function<bool()>& stop);

}  // namespace tuner::session
