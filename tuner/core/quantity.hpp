// SPDX-License-Identifier: Apache-2.0
// How quantities are written for people.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tuner::quantity {

/// A number rounded to that many significant digits: number(41.92, 3) is "41.9".
[[nodiscard]] std::string number(double value, int digits);

/// A time in the unit that suits: "84.2 ns", "8.42 µs", "842 ms", "2.50 s".
[[nodiscard]] std::string time(double nanoseconds, int digits = 3);

/// A duration in its two largest units: "2.3 s", "42 s", "1 min 05 s", "2 h 03 min".
[[nodiscard]] std::string duration(std::chrono::duration<double> duration);

/// "12,345".
[[nodiscard]] std::string count(std::uint64_t count);
/// "1 trial", "12,345 trials".
[[nodiscard]] std::string count(std::uint64_t number_of, std::string_view noun);

}  // namespace tuner::quantity
