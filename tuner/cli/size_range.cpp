// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/size_range.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace tuner::cli {
namespace {

constexpr std::size_t kMostSizes = 1000;

[[noreturn]] void fail(std::string_view text, std::string_view why) {
  throw Error(ErrorCode::usage,
              fmt::format("--range {}: {}; write START:STOP:STRIDE or START:STOP:xFACTOR, such as "
                          "64:1024:64 or 64:4096:x2",
                          text, why));
}

std::optional<std::int64_t> positive(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number <= 2147483647 ? std::optional(number) : std::nullopt;
}

}  // namespace

std::vector<space::Size> size_range(std::string_view text, const space::Dimensions& dims) {
  const std::size_t one = text.find(':'), two = text.find(':', one + 1);
  if (one == text.npos || two == text.npos) fail(text, "a range has three parts");
  std::string_view step_text = text.substr(two + 1);
  const bool multiplies = step_text.starts_with('x');
  if (multiplies) step_text.remove_prefix(1);
  const auto start = positive(text.substr(0, one));
  const auto stop = positive(text.substr(one + 1, two - one - 1));
  const auto step = positive(step_text);
  if (!start || !stop || !step) fail(text, "its parts are whole numbers above 0");
  if (*start > *stop) fail(text, "its start is above its end");
  if (multiplies && *step < 2) fail(text, "a factor is at least 2");
  std::vector<space::Size> sizes;
  for (std::int64_t extent = *start; extent <= *stop;
       extent = multiplies ? extent * *step : extent + *step) {
    if (sizes.size() == kMostSizes)
      fail(text, fmt::format("it has more than {} sizes", kMostSizes));
    std::vector<std::optional<std::int64_t>> numbers(dims.size());
    for (std::size_t i = 0; i < dims.required(); ++i) numbers[i] = extent;
    auto size = dims.complete(numbers);
    if (!size) fail(text, size.error());
    sizes.push_back(std::move(*size));
  }
  return sizes;
}

}  // namespace tuner::cli
