// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/format.hpp"

#include "tuner/core/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::report {
namespace {

constexpr std::string_view kNoBreakSpace = "\u00a0";

std::string no_break(std::string text) {
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at)) {
    text.replace(at, 1, kNoBreakSpace);
  }
  return text;
}

}  // namespace

std::string format_time(double ns) {
  return no_break(quantity::time(ns, 4));
}

std::string format_count(std::uint64_t count) {
  return quantity::count(count);
}

std::string format_factor(double factor) {
  return quantity::number(factor, 3) + "×";
}

std::string format_percent(double share) {
  const double percent = 100 * share;
  const int digits = percent < 10 ? 2 : 3;
  return fmt::format("{}{}%", quantity::number(percent, digits), kNoBreakSpace);
}

std::string format_bytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.4g}{}{}", bytes, kNoBreakSpace, kUnits[unit]);
}

std::string format_size(std::string_view problem) {
  std::string text;
  for (std::size_t start = 0; start <= problem.size();) {
    const std::size_t end = std::min(problem.find(',', start), problem.size());
    const std::string_view part = problem.substr(start, end - start);
    const bool named = part.find('=') != std::string_view::npos;
    if (start > 0) text += named ? ", " : "×";
    text += part;
    start = end + 1;
  }
  return text;
}

std::string format_plural(std::uint64_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", format_count(count), count == 1 ? singular : plural);
}

}  // namespace tuner::report
