// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// A kernel's scratch buffers at the size and configuration that `slots` hold, of at least one
/// element each. Throws Error(usage) when a count has no value or a negative one.
[[nodiscard]] std::vector<CheckedData> scratch_data(const Kernel& kernel, const Slots& slots);

/// The arguments of a launch, the family's first, followed by the tensors that begin in them.
[[nodiscard]] std::vector<LaunchArgument> with_tensors(std::vector<LaunchArgument> arguments,
                                                       const std::vector<TensorLayout>& tensors);

/// The launch of a kernel at the size and configuration that `slots` hold, with the arguments of
/// with_tensors as its functions and its variables take them. Throws Error(usage) as geometry and
/// taken_arguments.
[[nodiscard]] Launch launch_of(const Kernel& kernel, const Slots& slots, KernelId loaded,
                               const std::vector<LaunchArgument>& arguments);

/// The scratch buffers of one configuration at one size, between guard zones like an instance's
/// data.
class Scratch {
 public:
  /// Takes memory planned for scratch_data and fills it with zeros. The backend and the check
  /// kernels must outlive it.
  Scratch(Backend& backend, CheckKernels& kernels, CheckedMemory memory);

  /// The buffers, in the kernel's order.
  [[nodiscard]] std::vector<Region> regions() const;
  /// What was written beside a buffer; nothing when all guard zones are as they were.
  [[nodiscard]] std::optional<std::string> overrun();

 private:
  CheckKernels* kernels_;
  CheckedMemory memory_;
};

}  // namespace tuner
