// SPDX-License-Identifier: Apache-2.0
// What one configuration makes of a kernel: values that a backend can compile and launch.
#pragma once

#include "tuner/family/family.hpp"
#include "tuner/source/source.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tuner::family {

/// Everything that goes into a compilation.
struct CompileJob {
  source::KernelSource source;
  std::vector<std::string> entries;  ///< of each step, e.g. "gemm_shared<64,64,16>"
  std::vector<std::string> options;  ///< -DNAME=value, chosen ones and the kernel's own
  std::string key;                   ///< content hash of all the above: equal keys, equal binaries
};

/// A launch's shape.
struct Geometry {
  bool operator==(const Geometry&) const = default;

  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  /// CUDA's programmatic dependent launch: the grid may begin before what comes before it on its
  /// stream has ended, and waits for that itself.
  bool programmatic = false;
};

/// A tensor in a buffer, and how boxes of it come into shared memory.
struct TensorLayout {
  bool operator==(const TensorLayout&) const = default;

  std::size_t argument = 0;  ///< the buffer in which the tensor lies
  ElementType type;
  std::uint64_t offset = 0;            ///< elements before it in the buffer
  std::vector<std::uint64_t> extents;  ///< elements, innermost first
  std::vector<std::uint64_t> strides;  ///< elements, for each extent but the first
  std::vector<std::uint32_t> box;      ///< elements along each extent
  std::uint32_t swizzle_bytes = 0;     ///< 0: none
};

/// The values on which a family's expressions can be evaluated when no device is known: those of
/// family_scope, device attributes zero.
[[nodiscard]] space::ExpressionValues family_values(const space::Size& size);

/// The headers that declare the types which the kernel's entries name at the size that `values`
/// hold: its source is compiled after them.
[[nodiscard]] std::vector<std::string_view> type_headers(const Kernel& kernel,
                                                         const space::ExpressionValues& values);

/// The compilation of a configuration.
[[nodiscard]] CompileJob compile_job(const Kernel& kernel, const space::BoundDefinition& space,
                                     const space::Config& config);
/// The compilation at the size that `values` hold, which are as of Space::values or values_at_size:
/// another size can need other code, since entries may hold derived values.
[[nodiscard]] CompileJob compile_job(const Kernel& kernel, const space::ExpressionValues& values,
                                     const space::Config& config);

/// The launch of a step of a configuration at the size that `values` hold. Throws Error(usage) when
/// an expression faults or leaves the range of a launch (grid 2^31-1 × 65535 × 65535, block 1024).
[[nodiscard]] Geometry geometry(const Kernel& kernel, std::size_t step,
                                const space::ExpressionValues& values);

/// The tensor maps of a configuration at the size that `values` hold. Throws Error(usage) when an
/// expression faults or leaves the range of a tensor map (CUDA Driver API, cuTensorMapEncodeTiled:
/// offset below 2^40 bytes, extents 1 to 2^32, strides below 2^40 bytes, box 1 to 256, swizzle 0,
/// 32, 64 or 128 bytes).
[[nodiscard]] std::vector<TensorLayout> tensor_layouts(const Kernel& kernel,
                                                       const space::ExpressionValues& values);

/// An argument of a launch: a place among the family's arguments, the scratch buffers and the
/// tensor maps, one after the other; or a number.
using TakenArgument = std::variant<std::size_t, Scalar>;

/// What the function of a step takes at the size and configuration that `values` hold, in the order
/// of its parameters, in a family with `family_arguments` arguments. Throws Error(usage) when a
/// number has no value or not one of its type.
[[nodiscard]] std::vector<TakenArgument> taken_arguments(const Kernel& kernel, std::size_t step,
                                                         std::size_t family_arguments,
                                                         const space::ExpressionValues& values);

/// Why a configuration has no launch at the size that `values` hold, in a family with these
/// arguments: a grid, a block, a number, an array or a tensor map that CUDA does not have; none
/// where it has one. Of the kernel only its name, steps and tensor maps are read, of arguments no
/// buffers.
[[nodiscard]] std::optional<std::string> why_no_launch(const std::vector<Argument>& arguments,
                                                       const Kernel& kernel,
                                                       const space::ExpressionValues& values);

/// The values of a configuration at another size: what launch and derived values become there.
[[nodiscard]] space::ExpressionValues values_at_size(const Kernel& kernel,
                                                     const space::BoundDefinition& space,
                                                     const space::Config& config,
                                                     const space::Size& size);

}  // namespace tuner::family
