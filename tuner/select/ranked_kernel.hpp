// SPDX-License-Identifier: Apache-2.0
// A kernel of a stored space file, as ranking and the cost model need it.
#pragma once

#include "tuner/family/stored_file.hpp"
#include "tuner/space/bound_definition.hpp"
#include "tuner/store/records.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tuner::select {

/// Whether a kernel came with its space file: an imported one does not.
[[nodiscard]] bool has_space(const store::KernelRecord& kernel);

/// Throws as family::read_stored_file.
[[nodiscard]] family::StoredFile stored_file(const store::KernelRecord& record);

class RankedKernel {
 public:
  /// Throws as family::read_stored_file.
  explicit RankedKernel(const store::KernelRecord& record);

  [[nodiscard]] const family::Family& family() const { return file_->family; }
  [[nodiscard]] const family::Kernel& kernel() const { return file_->family.kernels.front(); }
  [[nodiscard]] const std::vector<std::string>& family_kernels() const { return file_->kernels; }
  [[nodiscard]] const space::SpaceDefinition& definition() const { return *kernel().space; }
  [[nodiscard]] const space::Dimensions& dims() const { return definition().dims; }
  [[nodiscard]] const space::Expression& flops() const { return family().problem.flops; }
  [[nodiscard]] const space::Expression& bytes() const { return family().problem.bytes; }
  /// Whether a BLAS computes what the family does.
  [[nodiscard]] bool has_library() const {
    return family::library_arguments(family().check) != nullptr;
  }
  /// The derived values that each step's grid needs, in an order in which they can be computed.
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& grid_derived() const {
    return grid_derived_;
  }
  /// Names in entries that are not parameters: if their values differ, a configuration is other
  /// code.
  [[nodiscard]] const std::vector<std::size_t>& entry_slots() const { return entry_slots_; }

  /// `size` has a number for every dimension.
  [[nodiscard]] space::BoundDefinition at(const space::DeviceAttributes& device,
                                          const space::Size& size) const {
    return {kernel().space, device, size};
  }

 private:
  std::shared_ptr<const family::StoredFile> file_;
  std::vector<std::vector<std::size_t>> grid_derived_;
  std::vector<std::size_t> entry_slots_;
};

/// Null where the kernel came without its space file.
[[nodiscard]] std::shared_ptr<const RankedKernel> ranked_kernel(const store::KernelRecord& record);

/// Why a configuration cannot be used on the device and at the size that `at` has: a constraint, or
/// as family::why_no_launch; none when it can.
[[nodiscard]] std::optional<std::string> why_invalid(const RankedKernel& kernel,
                                                     const space::BoundDefinition& at,
                                                     const space::Config& config);

}  // namespace tuner::select
