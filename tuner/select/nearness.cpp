// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/nearness.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace tuner {

std::optional<std::vector<std::int64_t>> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (;;) {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc{} || number < 1) return std::nullopt;
    numbers.push_back(number);
    if (stop == end) return numbers;
    if (*stop != ',') return std::nullopt;
    at = stop + 1;
  }
}

std::string canonical_size(std::span<const std::int64_t> numbers) {
  return fmt::format("{}", fmt::join(numbers, ","));
}

Nearness nearness(std::span<const std::int64_t> asked, std::vector<std::int64_t> size) {
  std::vector<double> differences;
  double volume = 1;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto [smaller, larger] = std::minmax(asked[i], size[i]);
    differences.push_back(std::log(static_cast<double>(larger) / static_cast<double>(smaller)));
    volume *= static_cast<double>(size[i]);
  }
  // Summed in ascending order, so that sizes with swapped dimensions come out equal to the bit.
  std::sort(differences.begin(), differences.end());
  double squares = 0;
  for (const double difference : differences) squares += difference * difference;
  return {.largest = differences.empty() ? 0 : differences.back(),
          .total = std::sqrt(squares),
          .volume = volume,
          .size = std::move(size)};
}

}  // namespace tuner
