// SPDX-License-Identifier: Apache-2.0
// A kernel as the database keeps it: its space file read back.
#pragma once

#include "tuner/space/space.hpp"
#include "tuner/store/records.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner {

/// Whether a kernel came with its space file: an imported one does not.
[[nodiscard]] bool has_space(const KernelRecord& kernel);

/// The dimensions in a stored kernel's space file. Throws Error(failure) when the stored text is no
/// space file.
[[nodiscard]] Dimensions stored_dims(const KernelRecord& kernel);

/// The shape of one of a kernel's launches.
struct StoredStep {
  std::vector<Expression> grid;
  std::vector<Expression> block;
  Expression dynamic_shared_bytes = Expression::constant(0);
  std::vector<std::size_t> grid_derived;  ///< the derived values that the grid needs, in order
};

/// What a space file says of one of its kernels, as far as it decides between configurations.
struct StoredKernel {
  std::shared_ptr<const SpaceDefinition> definition;
  std::vector<std::string> family_kernels;  ///< all kernels of the file, in its order
  bool has_library = false;                 ///< a BLAS computes what the family does
  Expression flops = Expression::constant(0);
  Expression bytes = Expression::constant(0);
  std::vector<StoredStep> steps;
  std::vector<Expression> scratch;  ///< elements of each buffer
  /// What stands in entries and is no parameter: where it differs, a configuration is other code.
  std::vector<std::size_t> entry_slots;

  [[nodiscard]] const Dimensions& dims() const { return definition->dims; }
};

/// Throws Error(failure) as stored_dims.
[[nodiscard]] StoredKernel stored_kernel(const KernelRecord& kernel);

/// A stored kernel on a device at a size, which has a number for every dimension. Keeps a reference
/// to the kernel. Unlike a Space it enumerates nothing, so that asking about a few configurations
/// is cheap.
class KernelAtSize {
 public:
  KernelAtSize(const StoredKernel& kernel, const DeviceAttributes& device, const Size& size);

  /// Why a configuration cannot be used here; none when it can.
  [[nodiscard]] std::optional<std::string> why_invalid(const Config& config) const;
  [[nodiscard]] Config default_config() const;
  /// See Space::slots.
  [[nodiscard]] Slots slots(const Config& config) const;

 private:
  const StoredKernel& kernel_;
  Slots base_;  // device attributes and dimensions
};

}  // namespace tuner
