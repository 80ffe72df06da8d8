// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tuner {
namespace {

constexpr std::string_view kNoBreakSpace = "\u00a0";

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) return fmt::format("{:.0f}", value);
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  const int decimals = std::max(0, digits - 1 - magnitude);
  return fmt::format("{:.{}f}", value, decimals);
}

}  // namespace

std::string format_number(double value) {
  return significant(value, 4);
}

std::string format_time(double ns) {
  struct Unit {
    double ns;
    std::string_view name;
  };
  constexpr std::array kUnits = {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "µs"}, Unit{1, "ns"}};
  const auto fits = [ns](const Unit& unit) { return ns >= unit.ns; };
  const auto* const found = std::find_if(kUnits.begin(), kUnits.end(), fits);
  const Unit& unit = found == kUnits.end() ? kUnits.back() : *found;
  return fmt::format("{}{}{}", significant(ns / unit.ns, 4), kNoBreakSpace, unit.name);
}

std::string format_duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.2g}{}s", seconds, kNoBreakSpace);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}{}s", whole, kNoBreakSpace);
  if (whole < 3600)
    return fmt::format("{0}{2}min{2}{1:02}{2}s", whole / 60, whole % 60, kNoBreakSpace);
  return fmt::format("{0}{2}h{2}{1:02}{2}min", whole / 3600, whole % 3600 / 60, kNoBreakSpace);
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t end = digits.size(); end > 3; end -= 3) digits.insert(end - 3, 1, ',');
  return digits;
}

std::string format_factor(double factor) {
  return significant(factor, factor < 10 ? 2 : 3) + "×";
}

std::string format_percent(double share) {
  const double percent = 100 * share;
  const int digits = percent < 10 ? 2 : 3;
  return fmt::format("{}{}%", significant(percent, digits), kNoBreakSpace);
}

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g}{}{}", bytes, kNoBreakSpace, kUnits[unit]);
}

std::string format_size(std::string_view problem) {
  std::string text;
  for (const char c : problem) text += c == ',' ? std::string("×") : std::string(1, c);
  return text;
}

std::string format_plural(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", format_count(count), count == 1 ? singular : plural);
}

}  // namespace tuner
