// SPDX-License-Identifier: Apache-2.0
// A kernel as the database keeps it: its space file read back.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/space/bound_definition.hpp"
#include "tuner/store/records.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::select {

/// Whether a kernel came with its space file: an imported one does not.
[[nodiscard]] bool has_space(const store::KernelRecord& kernel);

/// The dimensions in a stored kernel's space file. Throws Error(failure) when the stored text is no
/// space file.
[[nodiscard]] space::Dimensions stored_dims(const store::KernelRecord& kernel);

/// What a space file says of one of its kernels, as far as it decides between configurations.
struct StoredKernel {
  std::shared_ptr<const space::SpaceDefinition> definition;
  std::vector<std::string> family_kernels;  ///< all kernels of the file, in its order
  bool has_library = false;                 ///< a BLAS computes what the family does
  space::Expression flops = space::Expression::constant(0);
  space::Expression bytes = space::Expression::constant(0);
  family::Kernel launched;  ///< its name and what decides whether it has a launch
  std::vector<std::vector<std::size_t>> grid_derived;  ///< what each step's grid needs, in order
  /// The family's, without what does not decide that: buffers have only types.
  std::vector<family::Argument> arguments;
  std::vector<space::Expression> scratch;  ///< elements of each buffer
  /// Names in entries that are not parameters: if their values differ, a configuration is other
  /// code.
  std::vector<std::size_t> entry_slots;

  [[nodiscard]] const space::Dimensions& dims() const { return definition->dims; }
  /// `size` has a number for every dimension.
  [[nodiscard]] space::BoundDefinition at(const space::DeviceAttributes& device,
                                          const space::Size& size) const {
    return {definition, device, size};
  }
};

/// Throws Error(failure) as stored_dims.
[[nodiscard]] StoredKernel stored_kernel(const store::KernelRecord& record);

/// Why a configuration cannot be used on the device and at the size that `at` has: a constraint, or
/// as family::why_no_launch; none when it can.
[[nodiscard]] std::optional<std::string> why_invalid(const StoredKernel& kernel,
                                                     const space::BoundDefinition& at,
                                                     const space::Config& config);

}  // namespace tuner::select
