// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/expected.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/family/candidate.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace tuner::backend {

/// An argument as the device receives it: a value, a pointer, a tensor map, or an array.
struct KernelArgument {
  alignas(64) std::array<std::byte, 128> bytes{};
  std::size_t size_bytes = 0;
  std::vector<std::byte> array = {};  ///< in place of `bytes`

  [[nodiscard]] void* address() { return array.empty() ? bytes.data() : array.data(); }
};

template <class Value>
[[nodiscard]] KernelArgument packed(Value value) {
  KernelArgument argument{.size_bytes = sizeof value};
  static_assert(sizeof value <= sizeof argument.bytes);
  std::memcpy(argument.bytes.data(), &value, sizeof value);
  return argument;
}

/// The tensor map of a tensor in the buffer at an address: elements outside of it read as zero,
/// boxes are fetched through the L2 cache in whole lines. Tensor maps begin at a multiple of 16
/// bytes: at the last one before the tensor, by which its first extent is longer. launch_error when
/// the driver refuses, which it does where a stride is no multiple of 16 bytes, or a box too wide
/// for its swizzle. Allocates nothing unless it fails.
[[nodiscard]] Expected<KernelArgument, Failure> packed(const family::TensorLayout& layout,
                                                       std::byte* buffer);

}  // namespace tuner::backend
