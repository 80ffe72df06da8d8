// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/recording_formats.hpp"

#include "tuner/core/printable.hpp"

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

void EvaluationTime::add(const Json& milliseconds) {
  const auto counts = [](const Json& value) {
    return value.is_number() && value.get<double>() >= 0 && value.get<double>() < kNothingMeasured;
  };
  if (milliseconds.is_array()) {
    double sum = 0;
    for (const Json& part : milliseconds) sum += counts(part) ? part.get<double>() : 0;
    milliseconds_ = milliseconds_.value_or(0) + sum;
  } else if (counts(milliseconds)) {
    milliseconds_ = milliseconds_.value_or(0) + milliseconds.get<double>();
  }
}

std::optional<double> EvaluationTime::seconds() const {
  if (!milliseconds_) return std::nullopt;
  return *milliseconds_ / 1000;
}

}  // namespace tuner::interop
