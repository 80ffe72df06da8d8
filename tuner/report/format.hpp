// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tuner::report {

/// "5.481 ms": four significant digits in the unit that suits, ns to s.
[[nodiscard]] std::string format_time(double ns);
/// "1,480".
[[nodiscard]] std::string format_count(std::uint64_t count);
/// A factor: "3.2×".
[[nodiscard]] std::string format_factor(double factor);
/// A share of one: 0.491 → "49.1 %".
[[nodiscard]] std::string format_percent(double share);
/// "139.7 GiB".
[[nodiscard]] std::string format_bytes(double bytes);
/// "4096,4096,1,TRANS_B=1" → "4096×4096×1, TRANS_B=1".
[[nodiscard]] std::string format_size(std::string_view problem);
/// "1 tie", "2 ties".
[[nodiscard]] std::string format_plural(std::uint64_t count, std::string_view singular,
                                        std::string_view plural);

}  // namespace tuner::report
