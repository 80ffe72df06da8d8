// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/possible_best.hpp"

#include "tuner/space/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

namespace tuner::store {
namespace {

constexpr double kLeastNs = 1;
constexpr double kMostRate = 1e9;  // a ns: 1e18 a second, a hundred times today's fastest device
constexpr double kMostTimes = 1e6;
constexpr std::size_t kLongestText = 1024;
constexpr int kFirstYear = 2007;  // of CUDA
constexpr int kLastYear = 2099;

std::optional<std::string> wrong_time(const BestRecord& best) {
  const double shortest = std::min(best.time.min_ns, best.sustained_ns.value_or(best.time.min_ns));
  if (shortest < kLeastNs) {
    return fmt::format("a time of {:g} ns is impossible: at least {} ns", shortest, kLeastNs);
  }
  const double median =
      std::min(best.time.median_ns, best.sustained_ns.value_or(best.time.median_ns));
  const double rate = std::max(best.flops, best.bytes) / median;
  if (rate > kMostRate) {
    return fmt::format("{:g} operations or bytes in {:g} ns are impossible: at most {:g} a ns",
                       std::max(best.flops, best.bytes), median, kMostRate);
  }
  return std::nullopt;
}

std::optional<std::string> wrong_ratio(const BestRecord& best) {
  for (const auto& [name, ratio] : {std::pair("library.ratio", best.ratio_to_library),
                                    {"library.ratio_low", best.ratio_to_library_low},
                                    {"library.ratio_high", best.ratio_to_library_high},
                                    {"default.ratio", best.ratio_to_default}}) {
    if (ratio && (*ratio > kMostTimes || *ratio < 1 / kMostTimes)) {
      return fmt::format("'{}' is {:g}: from {:g} to {:g} are possible", name, *ratio,
                         1 / kMostTimes, kMostTimes);
    }
  }
  const double ratio = best.ratio_to_library.value_or(1);
  const double low = best.ratio_to_library_low.value_or(ratio);
  const double high = best.ratio_to_library_high.value_or(ratio);
  if (low > high || (best.ratio_to_library && (ratio < low || ratio > high))) {
    return fmt::format("the ratio to the library is outside of its interval: {:g}, {:g} to {:g}",
                       ratio, low, high);
  }
  return std::nullopt;
}

/// Of 2026-01-02T03:04:05Z, whose digits and signs are known to be there.
bool is_in_the_calendar(std::string_view date) {
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    std::from_chars(date.data() + at, date.data() + at + digits, value);
    return value;
  };
  const int year = number(0, 4);
  const std::chrono::year_month_day day{std::chrono::year(year),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  return day.ok() && year >= kFirstYear && year <= kLastYear && number(11, 2) < 24 &&
         number(14, 2) < 60 && number(17, 2) <= 60;
}

std::optional<std::string> wrong_text(const StoredBest& stored) {
  const Subject& subject = *stored.subject;
  for (const auto& [name, text] :
       {std::pair<const char*, std::string_view>("device.backend", subject.device.backend),
        {"device.name", subject.device.name},
        {"device.architecture", subject.device.architecture},
        {"environment.driver", subject.environment.driver},
        {"environment.compiler", subject.environment.compiler},
        {"environment.library", subject.environment.library},
        {"environment.tool", subject.environment.tool},
        {"family", subject.kernel.family},
        {"kernel", subject.kernel.kernel},
        {"kernel_hash", subject.kernel.hash},
        {"problem", stored.best.problem},
        {"library.name", stored.best.library_name},
        {"provenance.session", stored.best.run_uuid},
        {"provenance.origin", stored.best.origin}}) {
    if (text.size() > kLongestText) {
      return fmt::format("'{}' has {} bytes: at most {}", name, text.size(), kLongestText);
    }
  }
  if (!is_in_the_calendar(stored.best.recorded_at)) {
    return fmt::format("'recorded_at' is {}: a date from {} to {}", stored.best.recorded_at,
                       kFirstYear, kLastYear);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_impossible(const StoredBest& stored) {
  if (auto why = wrong_time(stored.best)) return why;
  if (auto why = wrong_ratio(stored.best)) return why;
  return wrong_text(stored);
}

}  // namespace tuner::store
