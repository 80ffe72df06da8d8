// SPDX-License-Identifier: Apache-2.0
// How quantities are written for people.
#pragma once

#include "tuner/core/outcome.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::cli {

/// "8.42 µs", "12.3 ms", "2.50 s": three significant digits.
[[nodiscard]] std::string format_time(double nanoseconds);
/// "51.2 TFLOP/s", "812 GFLOP/s"; "–" when either is unknown.
[[nodiscard]] std::string format_rate(double flops, double nanoseconds);
/// "×1.07".
[[nodiscard]] std::string format_ratio(std::optional<double> ratio);
/// "42 s", "1 min 05 s", "2 h 03 min".
[[nodiscard]] std::string format_duration(std::chrono::milliseconds duration);
/// "12,345".
[[nodiscard]] std::string format_count(std::uint64_t count);
/// "1 trial", "12,345 trials".
[[nodiscard]] std::string format_count(std::uint64_t count, std::string_view noun);
/// "23 compile_error, 1 wrong_result"; "none".
[[nodiscard]] std::string format_failures(const std::map<Outcome, std::uint64_t>& outcomes);

/// Reads "90", "90s", "10m", "1h30m", "500ms". Throws Error(usage) naming the option.
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view text,
                                                       std::string_view option);

}  // namespace tuner::cli
