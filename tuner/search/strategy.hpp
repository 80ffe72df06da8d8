// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/space/space.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::search {

/// The progress of a run, as far as it is known.
struct Budget {
  /// The share of the time or of the evaluations that is used up, from 0 to 1; none when no end is
  /// set.
  std::optional<double> spent = {};
};

/// Decides which configurations of a space to try, and learns from their results. Knows nothing
/// of kernels or devices; the same space, seed, budgets and answers give the same questions.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Up to `count` configurations to try next, none of them asked before. Fewer, or none, when the
  /// space is exhausted or when the strategy wants answers first. Many may be asked for before the
  /// first is answered: compilers work ahead of the device.
  [[nodiscard]] virtual std::vector<space::Config> ask(std::size_t count, Budget budget) = 0;

  /// The result of a configuration: its time in nanoseconds when it ended `ok`. In the order of
  /// `ask`. May also tell of configurations never asked for, such as earlier results.
  virtual void tell(const space::Config& config, Outcome outcome,
                    std::optional<double> time_ns) = 0;
};

/// The names that make_strategy knows; the first is the default.
[[nodiscard]] std::vector<std::string> strategy_names();

/// The strategy of that name. The space must outlive it. Throws Error(usage) with a suggestion.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name,
                                                      const space::Space& space,
                                                      std::uint64_t seed);

}  // namespace tuner::search
