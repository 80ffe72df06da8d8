// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tuner::dispatch {

/// The arguments of a kernel at a size and configuration: the family's, then its scratch buffers,
/// then numbers of its own, then its tensor maps.
struct KernelValues {
  /// What the function of a step takes.
  struct Taken {
    std::vector<std::size_t> places;  ///< as FunctionLaunch::taken
    std::vector<std::size_t> bytes;   ///< the size of each
  };

  std::vector<std::uint64_t> values;  ///< as KernelLaunch::values
  std::vector<Taken> steps;
  std::vector<std::size_t> given;             ///< as KernelLaunch::given
  std::vector<std::size_t> scratch_bytes;     ///< of each buffer; empty where all counts are 0
  std::vector<family::TensorLayout> tensors;  ///< of KernelLaunch::maps
};

/// `values` are the kernel's. Throws Error(usage) when an expression has no value or the kernel
/// more arguments than a launch can pass.
[[nodiscard]] KernelValues kernel_values(const FamilyTable& family, const family::Kernel& kernel,
                                         const space::ExpressionValues& values);

/// The family's reference as a launch of the library at a size; none when it is no such
/// operation. Throws Error(usage) as gemm_shape.
[[nodiscard]] std::optional<LibraryLaunch> library_launch(const FamilyTable& family,
                                                          const space::Size& size);

}  // namespace tuner::dispatch
