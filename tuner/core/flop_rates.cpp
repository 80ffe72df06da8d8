// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/flop_rates.hpp"

#include <algorithm>
#include <array>

namespace tuner {
namespace {

constexpr std::array kRates = {
    FlopRates{70, 128, 64, 0, 1024, 0},          FlopRates{75, 128, 4, 0, 1024, 2048},
    FlopRates{80, 128, 128, 1024, 2048, 4096},   FlopRates{86, 256, 4, 256, 1024, 2048},
    FlopRates{87, 256, 4, 512, 2048, 4096},      FlopRates{89, 256, 4, 256, 1024, 2048},
    FlopRates{90, 256, 256, 2048, 4096, 8192},   FlopRates{100, 256, 256, 4096, 8192, 16384},
    FlopRates{103, 256, 256, 4096, 8192, 16384}, FlopRates{120, 256, 4, 256, 1024, 2048},
    FlopRates{121, 256, 4, 256, 1024, 2048},
};

}  // namespace

const FlopRates* flop_rates(std::int64_t compute_capability) {
  const auto* const found =
      std::ranges::find(kRates, compute_capability, &FlopRates::compute_capability);
  return found == kRates.end() ? nullptr : found;
}

std::optional<double> nominal_flops_per_cycle(std::int64_t compute_capability, ElementType type) {
  const FlopRates* rates = flop_rates(compute_capability);
  if (rates == nullptr) return std::nullopt;
  const int width = bits(type);
  if (type == ElementType::tf32) return std::max(rates->f32, rates->tf32);
  if (width == 8) return std::max({rates->f32, rates->of_16_bits, rates->of_8_bits});
  if (!is_floating(type)) return std::nullopt;
  if (width == 16) return std::max(rates->f32, rates->of_16_bits);
  return width == 32 ? rates->f32 : rates->f64;
}

}  // namespace tuner
