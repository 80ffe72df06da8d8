// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cpu/host_tensor_map.hpp"

#include "tuner/backend/cpu/kernel_abi.hpp"
#include "tuner/backend/launch_error.hpp"
#include "tuner/family/element_type.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace tuner::backend {

Expected<TensorMapValue, Failure> host_tensor_map(const family::TensorLayout& layout,
                                                  std::byte* buffer) {
  constexpr std::size_t kAlignment = 16;
  const std::size_t rank = layout.extents.size();
  const std::size_t element_bytes = family::element_bytes(layout.type);
  if (rank > HostTensorMap::kRank) {
    return launch_error(fmt::format("no tensor map of {} extents: the cpu backend has up to {}",
                                    rank, HostTensorMap::kRank));
  }
  HostTensorMap map{};
  std::byte* const tensor = buffer + layout.offset * element_bytes;
  const std::size_t before = reinterpret_cast<std::uintptr_t>(tensor) % kAlignment;
  map.begin = reinterpret_cast<unsigned char*>(tensor - before);
  map.element_bytes = static_cast<unsigned>(element_bytes);
  map.swizzle_bytes = layout.swizzle_bytes;
  for (std::size_t i = 0; i < HostTensorMap::kRank; ++i) {
    map.extents[i] = i < rank ? static_cast<long long>(layout.extents[i]) : 1;
    map.box[i] = i < rank ? layout.box[i] : 1;
    if (i == 0 || i >= rank) continue;
    const std::uint64_t stride_bytes = layout.strides[i - 1] * element_bytes;
    if (stride_bytes % kAlignment != 0) {
      return launch_error(
          fmt::format("no tensor map with a stride of {} bytes: strides are "
                      "multiples of {}",
                      stride_bytes, kAlignment));
    }
    map.strides_bytes[i - 1] = static_cast<long long>(stride_bytes);
  }
  map.extents[0] += static_cast<long long>(before / element_bytes);
  const std::size_t box_bytes = layout.box.front() * element_bytes;
  if (box_bytes % kAlignment != 0 || (map.swizzle_bytes != 0 && box_bytes > map.swizzle_bytes)) {
    return launch_error(fmt::format("no tensor map with a box of {} bytes, swizzled by {}",
                                    box_bytes, map.swizzle_bytes));
  }
  TensorMapValue value{};
  static_assert(sizeof map <= sizeof value.bytes);
  std::memcpy(value.bytes.data(), &map, sizeof map);
  return value;
}

}  // namespace tuner::backend
