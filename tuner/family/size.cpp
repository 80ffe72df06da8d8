// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/family/document.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace tuner {
namespace {

std::int64_t parse_extent(std::string_view text, std::string_view whole) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error != std::errc::invalid_argument && end == text.data() + text.size();
  if (!is_number) {
    throw Error(ErrorCode::usage, fmt::format("size {}: {} is not a whole number", in_quotes(whole),
                                              in_quotes(text)));
  }
  if (error != std::errc{} || value < 1 || value > kLargest) {
    throw Error(ErrorCode::usage, fmt::format("size {}: {} is not in 1 … {}", in_quotes(whole),
                                              in_quotes(text), kLargest));
  }
  return value;
}

double at_size(const Expression& expression, const Size& size) {
  Slots slots(attribute_fields().size(), 0);
  slots.insert(slots.end(), size.begin(), size.end());
  const auto value = expression.evaluate(slots);
  return value ? static_cast<double>(*value) : 0.0;
}

}  // namespace

double flops_at(const Problem& problem, const Size& size) {
  return at_size(problem.flops, size);
}

double bytes_at(const Problem& problem, const Size& size) {
  return at_size(problem.bytes, size);
}

Size parse_size(std::string_view text, std::span<const std::string> dims) {
  Size size;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(",x", start), text.size());
    size.push_back(parse_extent(text.substr(start, end - start), text));
    start = end + 1;
  }
  if (size.size() != dims.size()) {
    throw Error(
        ErrorCode::usage,
        fmt::format("size {}: {} number{} where {} are needed: {}", in_quotes(text), size.size(),
                    size.size() == 1 ? "" : "s", dims.size(), fmt::join(dims, ",")));
  }
  return size;
}

std::string display(const Size& size) {
  return fmt::format("{}", fmt::join(size, "x"));
}

}  // namespace tuner
