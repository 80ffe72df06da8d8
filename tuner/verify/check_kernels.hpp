// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/owned.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tuner {

/// What comparing a result with its reference found.
struct Comparison {
  std::uint64_t wrong = 0;        ///< elements outside their bound
  std::uint64_t first_wrong = 0;  ///< index of the first of them, when there is one
  double worst_share = 0;         ///< the largest error as a share of its bound
};

/// The kernels of check_kernels.cu on one device: they make inputs and compare results in device
/// memory. Compiled on first use. Every method throws Error(failure) when the device refuses: that
/// is no candidate's fault.
class CheckKernels {
 public:
  explicit CheckKernels(Backend& backend);

  /// Fills `count` elements with standard normal numbers.
  void fill_normal(BufferId buffer, ElementType type, std::int64_t count, std::uint64_t seed);
  /// Fills `count` elements with whole numbers in [-range, range].
  void fill_whole(BufferId buffer, ElementType type, std::int64_t count, std::uint64_t seed,
                  int range);
  /// result[i] = |data[i]|.
  void absolute(BufferId result, BufferId data, ElementType type, std::int64_t count);
  /// Right is |result − reference| ≤ factor·magnitude + tiny.
  [[nodiscard]] Comparison compare_bounded(BufferId result, BufferId reference, BufferId magnitude,
                                           ElementType type, std::int64_t count, double factor);
  /// Right is equality.
  [[nodiscard]] Comparison compare_exact(BufferId result, BufferId reference, ElementType type,
                                         std::int64_t count);
  struct Pair {
    double result, reference;
  };
  /// One element of both, for a message.
  [[nodiscard]] Pair pick(BufferId result, BufferId reference, ElementType type,
                          std::int64_t index);

 private:
  void launch(std::string_view kernel, ElementType type, std::int64_t count,
              std::vector<LaunchArgument> arguments);
  [[nodiscard]] Comparison compare(BufferId result, BufferId reference, LaunchArgument magnitude,
                                   ElementType type, std::int64_t count, double factor);
  [[nodiscard]] KernelId kernel(const std::string& entry);

  Backend& backend_;
  Buffer report_;
  std::map<std::string, LoadedKernel> kernels_;  // by entry
};

}  // namespace tuner
