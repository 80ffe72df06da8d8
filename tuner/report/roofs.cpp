// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/roofs.hpp"

#include "tuner/core/element_type.hpp"
#include "tuner/core/flop_rates.hpp"
#include "tuner/report/format.hpp"
#include "tuner/report/metric.hpp"
#include "tuner/report/standing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

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

namespace {

/// The nominal rate between the device and its memory in bytes per nanosecond, as `explain` read it
/// or by the device's name; without either no rate is too high.
double most_bytes_of(std::span<const KernelHistory> kernels, const space::DeviceInfo& device) {
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      const auto rate = size.explanation ? size.explanation->peak_bytes_per_s : std::nullopt;
      if (rate && *rate > 0) return *rate / 1e9;
    }
  }
  return nominal_bytes_per_ns(device.name).value_or(std::numeric_limits<double>::infinity());
}

/// A time in which a size's work was done, and by what.
struct Done {
  double ns = 0;
  std::string by;
  std::string_view measure;
};

/// All that the final round of a size measured.
std::vector<Done> done_at(const KernelHistory& kernel, const SizeHistory& size) {
  const store::BestRecord& best = *size.best;
  const std::string library = library_brand(best.library_name);
  std::vector<Done> found = {{best.time.median_ns, kernel.kernel, kCold}};
  if (best.library_ns) found.push_back({*best.library_ns, library, kCold});
  if (ranking_measure(size) == kBackToBack) {
    found.push_back({*ranking_ns(size), kernel.kernel, kBackToBack});
    if (const auto ns = library_ns(size)) found.push_back({*ns, library, kBackToBack});
  }
  std::erase_if(found, [](const Done& one) { return one.ns <= 0; });
  return found;
}

/// Takes the rate where it is higher.
void raise(double& roof, std::string& from, double rate, const Done& done,
           const std::string& problem) {
  if (rate <= roof) return;
  roof = rate;
  from = fmt::format("{} at {}, {}", done.by, format_size(problem), done.measure);
}

/// Nominal rates, which no roof exceeds: a higher rate is of operations that were left out.
void limit_to_nominal(Roofs& roofs, const space::DeviceAttributes& has) {
  for (auto& [type, measured] : roofs.flops) {
    const auto known = element_type_from_name(type);
    if (!known || roofs.clock_mhz == 0) continue;
    const auto rate = nominal_flops_per_cycle(has.compute_capability, *known);
    if (!rate || has.sm_count == 0) continue;
    const double nominal =
        *rate * static_cast<double>(has.sm_count) * roofs.clock_mhz / 1e3;  // of a nanosecond
    roofs.nominal_flops[type] = nominal;
    if (measured <= nominal) continue;
    measured = nominal;
    roofs.flops_from[type] =
        fmt::format("the nominal peak at {}\u00a0MHz",
                    format_count(static_cast<std::uint64_t>(std::lround(roofs.clock_mhz))));
  }
}

}  // namespace

Roofs roofs_of(std::span<const KernelHistory> kernels, std::string_view family,
               const space::DeviceInfo& device) {
  Roofs roofs;
  const double most_bytes = most_bytes_of(kernels, device);
  for (const KernelHistory& kernel : kernels) {
    for (const SizeHistory& size : kernel.sizes) {
      if (!size.best) continue;
      const std::string type = kernel.types.at(size.problem);
      const bool is_of_known_type = !type.empty() || kernel.family == family;
      for (const Done& done : done_at(kernel, size)) {
        if (size.best->flops > 0 && is_of_known_type) {
          raise(roofs.flops[type], roofs.flops_from[type], size.best->flops / done.ns, done,
                size.problem);
        }
        // A higher rate than the memory's is of data that was not read, or of a cache.
        if (const double rate = size.best->bytes / done.ns; rate <= most_bytes) {
          raise(roofs.bytes, roofs.bytes_from, rate, done, size.problem);
        }
      }
      for (const store::FinalistRecord& finalist : size.finalists) {
        roofs.clock_mhz = std::max(roofs.clock_mhz, finalist.clock_mhz.value_or(0));
      }
    }
  }
  limit_to_nominal(roofs, device.attributes);
  return roofs;
}

}  // namespace tuner::report
