// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/peak.hpp"

#include "tuner/backend/cuda/runtime.hpp"
#include "tuner/core/flop_rates.hpp"

#include <algorithm>

namespace tuner::backend {

std::optional<double> flops_per_cycle(std::int64_t compute_capability, family::ElementType type) {
  const FlopRates* found = flop_rates(compute_capability);
  if (found == nullptr) return std::nullopt;
  const int width = family::bits(type);
  const double units = std::max(found->f32, found->tf32 / 3);
  if (type == family::ElementType::tf32) return std::max(units, found->tf32);
  if (width == 8) return std::max({units, found->of_16_bits, found->of_8_bits});
  if (!family::is_floating(type) || width == 32) return units;
  return width == 64 ? found->f64 : std::max(units, found->of_16_bits);
}

std::optional<Peak> cuda_peak(int ordinal, const space::DeviceAttributes& device,
                              family::ElementType type) {
  const auto attribute = [ordinal](cudaDeviceAttr which) -> double {
    int value = 0;
    if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess) return value;
    static_cast<void>(cudaGetLastError());
    return 0;
  };
  const auto per_cycle = flops_per_cycle(device.compute_capability, type);
  const double clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
  const double memory_clock_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate);
  const double bus_bytes = attribute(cudaDevAttrGlobalMemoryBusWidth) / 8;
  if (!per_cycle || clock_hz == 0) return std::nullopt;
  constexpr double kTransfersPerCycle = 2;  // double data rate
  return Peak{.flops_per_s = *per_cycle * static_cast<double>(device.sm_count) * clock_hz,
              .bytes_per_s = kTransfersPerCycle * memory_clock_hz * bus_bytes};
}

}  // namespace tuner::backend
