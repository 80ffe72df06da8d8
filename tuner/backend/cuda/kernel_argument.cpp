// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/kernel_argument.hpp"

#include "tuner/backend/cuda/driver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace tuner::backend {
namespace {

std::optional<CUtensorMapSwizzle> swizzle(std::uint32_t bytes) {
  switch (bytes) {
    case 0:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      return std::nullopt;
  }
}

Unexpected<Failure> refused(const family::TensorLayout& layout, std::string_view why) {
  return Unexpected(Failure{
      Outcome::launch_error,
      fmt::format("no tensor map of extents {}, strides {} and boxes {} swizzled by {} bytes: {}",
                  fmt::join(layout.extents, "x"), layout.strides, fmt::join(layout.box, "x"),
                  layout.swizzle_bytes, why)});
}

}  // namespace

Expected<KernelArgument, Failure> packed(const family::TensorLayout& layout, std::byte* buffer) {
  const int type = family::row(layout.type).tensor_map.value;
  const auto pattern = swizzle(layout.swizzle_bytes);
  if (type < 0) return refused(layout, "this element type is not supported");
  if (!pattern) return refused(layout, "rows are swizzled by 0, 32, 64 or 128 bytes");
  constexpr std::size_t kMostExtents = 5;
  constexpr std::size_t kAlignment = 16;
  if (layout.extents.size() > kMostExtents) return refused(layout, "it has too many extents");
  std::array<cuuint64_t, kMostExtents> strides{};  // in bytes
  std::ranges::transform(layout.strides, strides.begin(), [&](std::uint64_t stride) {
    return cuuint64_t{family::bytes_of(layout.type, static_cast<std::int64_t>(stride))};
  });
  std::array<cuuint64_t, kMostExtents> extents{};
  std::ranges::copy(layout.extents, extents.begin());
  const std::size_t element_bytes = family::element_bytes(layout.type);
  std::byte* const begin = buffer + layout.offset * element_bytes;
  const std::size_t before = reinterpret_cast<std::uintptr_t>(begin) % kAlignment;
  extents[0] += before / element_bytes;
  constexpr std::array<cuuint32_t, kMostExtents> kSteps{1, 1, 1, 1, 1};
  KernelArgument argument{.size_bytes = sizeof(CUtensorMap)};
  static_assert(sizeof(CUtensorMap) == sizeof argument.bytes);
  const CUresult result = driver_api().encode_tensor_map(
      reinterpret_cast<CUtensorMap*>(argument.bytes.data()), static_cast<CUtensorMapDataType>(type),
      static_cast<cuuint32_t>(layout.extents.size()), begin - before, extents.data(),
      strides.data(), layout.box.data(), kSteps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, *pattern,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    return refused(layout, fmt::format("driver error {}", static_cast<int>(result)));
  }
  return argument;
}

}  // namespace tuner::backend
