// SPDX-License-Identifier: Apache-2.0
// How rates, ratios and failures are written on the command line, and values of options read.
#pragma once

#include "tuner/core/outcome.hpp"
#include "tuner/session/observer.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tuner::cli {

/// "51.2 TFLOP/s", "812 GFLOP/s"; where there are no operations "4.12 TB/s"; "–" when unknown.
[[nodiscard]] std::string format_rate(double flops, double bytes, double nanoseconds);
/// Operations per joule, in thousands of millions; none where there are no operations, or the
/// energy was not measured.
[[nodiscard]] std::optional<double> gflops_per_watt(double flops, std::optional<double> joules);
/// "1.82 J a run, 75.5 GFLOP/s/W"; without operations the energy alone.
[[nodiscard]] std::string format_energy(double flops, double joules);
/// "×1.07".
[[nodiscard]] std::string format_ratio(std::optional<double> ratio);
/// "23 compile_error, 1 wrong_result"; "none".
/// "GPU-… on n1": the host where it is another one.
[[nodiscard]] std::string format_card(const session::CardName& card);
[[nodiscard]] std::string format_failures(const std::map<Outcome, std::uint64_t>& outcomes);

/// Throws Error(usage), with the nearest, unless the word that an option takes is one of these.
void require_word(std::string_view option, std::string_view word,
                  std::span<const std::string> words);
/// Reads "90", "90s", "0.5s", "10m", "1h30m", "500ms", to a millisecond. Throws Error(usage) naming
/// the option.
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view text,
                                                       std::string_view option);

}  // namespace tuner::cli
