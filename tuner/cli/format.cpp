// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/format.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <utility>
#include <vector>

namespace tuner::cli {
std::string format_rate(double flops, double bytes, double nanoseconds) {
  const double work = flops > 0 ? flops : bytes;
  if (!(work > 0) || !(nanoseconds > 0)) return "–";
  const char* const unit = flops > 0 ? "FLOP/s" : "B/s";
  const double giga = work / nanoseconds;
  if (giga < 999.5) return fmt::format("{} G{}", quantity::number(giga, 3), unit);
  return fmt::format("{} T{}", quantity::number(giga / 1e3, 3), unit);
}

std::string format_ratio(std::optional<double> ratio) {
  return ratio ? fmt::format("×{:.2f}", *ratio) : "–";
}

std::string format_failures(const std::map<Outcome, std::uint64_t>& outcomes) {
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : outcomes) {
    if (outcome != Outcome::ok && count > 0)
      parts.push_back(fmt::format("{} {}", count, name(outcome)));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

std::chrono::milliseconds parse_duration(std::string_view text, std::string_view option) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> kUnits = {
      {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"", 1'000}}};
  constexpr std::int64_t kLongest = 365LL * 24 * 3'600'000;
  const auto fail = [&] {
    throw Error(ErrorCode::usage,
                fmt::format("{}: '{}' is no duration; write 90s, 10m or 1h30m", option, text));
  };
  std::int64_t total = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at == end) fail();
  while (at != end) {
    std::int64_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 0 || number > kLongest) fail();
    const char* unit_end = after;
    while (unit_end != end && *unit_end >= 'a' && *unit_end <= 'z') ++unit_end;
    const std::string_view unit(after, static_cast<std::size_t>(unit_end - after));
    const auto* known = kUnits.begin();
    while (known != kUnits.end() && known->first != unit) ++known;
    if (known == kUnits.end() || number > kLongest / known->second) fail();
    total += number * known->second;
    at = unit_end;
  }
  if (total <= 0 || total > kLongest) fail();
  return std::chrono::milliseconds(total);
}

}  // namespace tuner::cli
