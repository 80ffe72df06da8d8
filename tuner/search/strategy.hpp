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

namespace tuner {

/// Decides which configurations of a space to try, and learns from how they fared. Knows nothing
/// of kernels, devices or budgets; the same space, seed and answers give the same questions.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// Up to `count` configurations to try next, none of them asked before. Fewer, or none, when the
  /// space is exhausted or when the strategy wants answers first.
  [[nodiscard]] virtual std::vector<Config> ask(std::size_t count) = 0;

  /// How a configuration fared: its time in nanoseconds when it ended `ok`. In the order of `ask`.
  /// May also tell of configurations never asked for, such as earlier results.
  virtual void tell(const Config& config, Outcome outcome, std::optional<double> time_ns) = 0;
};

/// The names that make_strategy knows; the first is the default.
[[nodiscard]] std::vector<std::string> strategy_names();

/// The strategy of that name. The space must outlive it. Throws Error(usage) with a suggestion.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name, const Space& space,
                                                      std::uint64_t seed);

}  // namespace tuner
