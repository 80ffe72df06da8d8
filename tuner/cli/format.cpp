// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/format.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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

std::optional<double> gflops_per_watt(double flops, std::optional<double> joules) {
  constexpr double kGiga = 1e9;
  if (!(flops > 0) || !joules) return std::nullopt;
  return flops / *joules / kGiga;
}

std::string format_energy(double flops, double joules) {
  constexpr double kMilli = 1e-3, kMicro = 1e-6;
  const std::string energy =
      joules < kMilli ? fmt::format("{} µJ", quantity::number(joules / kMicro, 3))
      : joules < 1    ? fmt::format("{} mJ", quantity::number(joules / kMilli, 3))
                      : fmt::format("{} J", quantity::number(joules, 3));
  const auto efficiency = gflops_per_watt(flops, joules);
  if (!efficiency) return energy + " a run";
  return fmt::format("{} a run, {} GFLOP/s/W", energy, quantity::number(*efficiency, 3));
}

std::string format_ratio(std::optional<double> ratio) {
  return ratio ? fmt::format("×{:.2f}", *ratio) : "–";
}

std::string format_card(const session::CardName& card) {
  if (card.host.empty()) return card.uuid;
  return card.uuid.empty() ? "on " + card.host : card.uuid + " on " + card.host;
}

std::string format_failures(const std::map<Outcome, std::uint64_t>& outcomes) {
  std::vector<std::string> parts;
  for (const auto& [outcome, count] : outcomes) {
    if (outcome != Outcome::ok && count > 0)
      parts.push_back(fmt::format("{} {}", count, name(outcome)));
  }
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

void require_word(std::string_view option, std::string_view word,
                  std::span<const std::string> words) {
  if (std::ranges::find(words, word) != words.end()) return;
  throw Error(ErrorCode::usage,
              fmt::format("{}: there is no '{}'{}", option, word, did_you_mean(word, words)));
}

std::chrono::milliseconds parse_duration(std::string_view text, std::string_view option) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits_ms = {
      {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"", 1'000}}};
  constexpr double kLongest_ms = 365.0 * 24 * 3'600'000;
  const auto fail = [&] {
    throw Error(ErrorCode::usage,
                fmt::format("{}: '{}' is not a duration of 1 ms to a year; write 90s, 0.5s, 10m or "
                            "1h30m",
                            option, text));
  };
  double total_ms = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  if (at == end) fail();
  while (at != end) {
    double number = 0;
    if (*at < '0' || *at > '9') fail();  // else "inf" and "-1" would be numbers
    const auto [after, error] = std::from_chars(at, end, number, std::chars_format::fixed);
    if (error != std::errc{}) fail();
    const char* unit_end = after;
    while (unit_end != end && *unit_end >= 'a' && *unit_end <= 'z') ++unit_end;
    const std::string_view unit(after, static_cast<std::size_t>(unit_end - after));
    const auto* known = std::ranges::find(kUnits_ms, unit, &decltype(kUnits_ms)::value_type::first);
    if (known == kUnits_ms.end()) fail();
    total_ms += number * known->second;
    at = unit_end;
  }
  if (!(total_ms <= kLongest_ms) || std::llround(total_ms) < 1) fail();
  return std::chrono::milliseconds(std::llround(total_ms));
}

}  // namespace tuner::cli
