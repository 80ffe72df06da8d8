// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_formats.hpp"

#include "tuner/core/printable.hpp"

#include <algorithm>
#include <cctype>

namespace tuner::interop {
namespace {

constexpr double kNothingMeasured = 1e20;  // Kernel Tuner's time of a configuration that failed

}  // namespace

const Json& member(const Json& object, const char* name) {
  static const Json none;
  if (!object.is_object()) return none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::string text_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string name_member(const Json& object, const char* name) {
  return printable(text_member(object, name));
}

std::optional<double> objective_of(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const auto number = value.get<double>();
  if (number >= kNothingMeasured) return std::nullopt;
  return number;
}

std::optional<double> unit_in_ms(std::string_view unit) {
  std::string name(unit);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name.ends_with("seconds")) name.pop_back();
  if (name == "s" || name == "sec" || name == "second") return 1e3;
  // "milisecond" is what Kernel Tuner writes.
  if (name == "ms" || name == "millisecond" || name == "milisecond") return 1;
  if (name == "us" || name == "\u00b5s" || name == "\u03bcs" || name == "microsecond") return 1e-3;
  if (name == "ns" || name == "nanosecond") return 1e-6;
  return std::nullopt;
}

void EvaluationTime::add(const Json& time) {
  const auto counts = [](const Json& value) {
    return value.is_number() && value.get<double>() >= 0 && value.get<double>() < kNothingMeasured;
  };
  if (time.is_array()) {
    double sum = 0;
    for (const Json& part : time) sum += counts(part) ? part.get<double>() : 0;
    sum_ = sum_.value_or(0) + sum;
  } else if (counts(time)) {
    sum_ = sum_.value_or(0) + time.get<double>();
  }
}

std::optional<double> EvaluationTime::seconds() const {
  if (!sum_) return std::nullopt;
  return *sum_ * unit_ms_ / 1000;
}

}  // namespace tuner::interop
