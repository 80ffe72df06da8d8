// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/peak.hpp"

#include "tuner/backend/cuda/runtime.hpp"

#include <algorithm>
#include <array>

namespace tuner::backend {
namespace {

/// Operations a cycle and multiprocessor.
struct Rates {
  std::int64_t compute_capability;
  double f32, tf32, f64;  ///< tf32: dense, 0 without; f64: with tensor cores where they have it
};

constexpr std::array kRates = {
    Rates{70, 128, 0, 64},     Rates{75, 128, 0, 4},       Rates{80, 128, 1024, 128},
    Rates{86, 256, 256, 4},    Rates{87, 256, 512, 4},     Rates{89, 256, 256, 4},
    Rates{90, 256, 2048, 256}, Rates{100, 256, 4096, 256}, Rates{103, 256, 4096, 256},
    Rates{120, 256, 256, 4},   Rates{121, 256, 256, 4},
};

}  // namespace

std::optional<double> flops_per_cycle(std::int64_t compute_capability, family::ElementType type) {
  const auto* const found =
      std::ranges::find(kRates, compute_capability, &Rates::compute_capability);
  if (found == kRates.end()) return std::nullopt;
  if (type == family::ElementType::f64) return found->f64;
  return std::max(found->f32, found->tf32 / 3);
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
