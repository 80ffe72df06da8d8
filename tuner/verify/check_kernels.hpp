// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/verify/checked_memory.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// The kernels of check_kernels.cu on one device: they make inputs, prepare memory for a launch and
/// look at all that the launch left, in device memory. Compiled on first use. Every method throws
/// Error(failure) when the device refuses: that is no candidate's fault.
class CheckKernels {
 public:
  explicit CheckKernels(Backend& backend);

  /// Fills `count` elements with standard normal numbers.
  void fill_normal(Region data, ElementType type, std::int64_t count, std::uint64_t seed);
  /// Fills `count` elements with whole numbers in [-range, range].
  void fill_whole(Region data, ElementType type, std::int64_t count, std::uint64_t seed, int range);
  /// Fills with NaN what of `count` elements does not belong to a matrix.
  void poison_padding(Region data, ElementType type, std::int64_t count, std::uint64_t seed,
                      const MatrixElements& used);
  /// result[i] = |data[i]|.
  void absolute(Region result, Region data, ElementType type, std::int64_t count);

  /// Fills the guard zones, and the outputs as `prepare` does with the poison 0.
  void lay_guards(const CheckedMemory& memory);
  /// Gives every output its initial content or, without one, words that are NaN and that another
  /// `poison` makes others.
  void prepare(const CheckedMemory& memory, std::uint64_t poison);

  enum class Repeats { ignored, compared };
  /// What a launch on outputs of this poison left in each of the memory's parts, in their order:
  /// one launch and one read.
  [[nodiscard]] std::vector<CheckReport> inspect(const CheckedMemory& memory, std::uint64_t poison,
                                                 Repeats repeats);

  /// One element, for a message.
  struct Element {
    double result = 0, reference = 0, magnitude = 0;
    bool untouched = false;  ///< it still holds the poison it was given
    bool left_out = false;   ///< the reference leaves it as it is
  };
  [[nodiscard]] Element pick(Region result, Region reference, std::optional<Region> magnitude,
                             ElementType type, std::int64_t index, std::uint64_t poison);

 private:
  void launch(const std::string& entry, std::int64_t elements,
              std::vector<LaunchArgument> arguments);
  void prepare(const CheckedMemory& memory, std::uint64_t poison, std::int32_t with_guards);
  [[nodiscard]] KernelId kernel(const std::string& entry);

  Backend& backend_;
  Buffer element_;                               // what `pick` writes
  std::map<std::string, LoadedKernel> kernels_;  // by entry
};

}  // namespace tuner
