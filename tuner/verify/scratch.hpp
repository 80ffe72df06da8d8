// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/verify/check_kernels.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tuner::verify {

/// A kernel's scratch buffers at the size and configuration that `values` hold, of at least one
/// element each. Throws Error(usage) when a count has no value or a negative one.
[[nodiscard]] std::vector<CheckedData> scratch_data(const family::Kernel& kernel,
                                                    const space::ExpressionValues& values);

/// The arguments of a launch, the family's first, followed by the tensors that begin in them.
[[nodiscard]] std::vector<backend::LaunchArgument> with_tensors(
    std::vector<backend::LaunchArgument> arguments,
    const std::vector<family::TensorLayout>& tensors);

/// The launch of a kernel at the size and configuration that `values` hold, with the arguments of
/// with_tensors as its functions and its variables take them. Throws Error(usage) as geometry and
/// taken_arguments.
[[nodiscard]] backend::Launch launch_of(const family::Kernel& kernel,
                                        const space::ExpressionValues& values,
                                        backend::KernelId loaded,
                                        const std::vector<backend::LaunchArgument>& arguments);

/// The scratch buffers of one configuration at one size, between guard zones like an instance's
/// data.
class Scratch {
 public:
  /// Takes memory planned for scratch_data and fills it with zeros. The backend and the check
  /// kernels must outlive it.
  Scratch(backend::Backend& backend, CheckKernels& kernels, CheckedMemory memory);

  /// The buffers, in the kernel's order.
  [[nodiscard]] std::vector<backend::Region> regions() const;
  /// Makes the content again what it was at first, zero, and lays the guard zones anew.
  void restore();
  /// What was written beside a buffer; nothing when all guard zones are as they were.
  [[nodiscard]] std::optional<std::string> overrun();

 private:
  backend::Backend* backend_;
  CheckKernels* kernels_;
  CheckedMemory memory_;
  Poison poison_{.kind = nan_poison, .seed = 0};  // of the guard zones
};

}  // namespace tuner::verify
