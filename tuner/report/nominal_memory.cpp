// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/nominal_memory.hpp"

#include <algorithm>
#include <array>

namespace tuner::report {
namespace {

struct MemoryRate {
  std::string_view model;  ///< what the device's name ends with
  double bytes_per_ns;
};

constexpr std::array kMemoryRates = {MemoryRate{"B200", 8000},
                                     MemoryRate{"GH200 480GB", 4000},
                                     MemoryRate{"GH200 144G HBM3e", 4900},
                                     MemoryRate{"H200 NVL", 4800},
                                     MemoryRate{"H200", 4800},
                                     MemoryRate{"H100 80GB HBM3", 3350},
                                     MemoryRate{"H100 NVL", 3940},
                                     MemoryRate{"H100 PCIe", 2040},
                                     MemoryRate{"A100-SXM4-80GB", 2040},
                                     MemoryRate{"A100 80GB PCIe", 1940},
                                     MemoryRate{"A100-SXM4-40GB", 1560},
                                     MemoryRate{"A100-PCIE-40GB", 1560},
                                     MemoryRate{"V100-SXM2-16GB", 900},
                                     MemoryRate{"V100-SXM2-32GB", 900},
                                     MemoryRate{"L40S", 864},
                                     MemoryRate{"RTX 5090", 1790},
                                     MemoryRate{"RTX 4090", 1010},
                                     MemoryRate{"RTX 3090", 936}};

}  // namespace

std::optional<double> nominal_bytes_per_ns(std::string_view device) {
  const auto* const found = std::ranges::find_if(
      kMemoryRates, [&](const MemoryRate& rate) { return device.ends_with(rate.model); });
  return found == kMemoryRates.end() ? std::nullopt : std::optional(found->bytes_per_ns);
}

}  // namespace tuner::report
