// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tuner::quantity {
namespace {

int magnitude(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
}

/// Rounding may carry into a new leading digit (9.996 → 10.0), which changes what is written.
double rounded(double value, int digits) {
  const double scale = std::pow(10.0, digits - 1 - magnitude(value));
  return std::round(value * scale) / scale;
}

}  // namespace

std::string number(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  const double shown = rounded(value, digits);
  return fmt::format("{:.{}f}", shown, std::max(0, digits - 1 - magnitude(shown)));
}

std::string time(double nanoseconds, int digits) {
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "µs", "ms", "s"};
  std::size_t unit = 0;
  double value = nanoseconds;
  for (; unit + 1 < kUnits.size() && rounded(value, digits) >= 1e3; ++unit) value /= 1e3;
  return fmt::format("{} {}", number(value, digits), kUnits[unit]);
}

std::string duration(std::chrono::duration<double> duration) {
  constexpr double kTenthsMatterBelow = 9.95;
  if (duration.count() < kTenthsMatterBelow)
    return fmt::format("{} s", number(duration.count(), 2));
  const auto seconds = static_cast<std::uint64_t>(std::llround(duration.count()));
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
}

std::string count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string count(std::uint64_t number_of, std::string_view noun) {
  return fmt::format("{} {}{}", count(number_of), noun, number_of == 1 ? "" : "s");
}

}  // namespace tuner::quantity
