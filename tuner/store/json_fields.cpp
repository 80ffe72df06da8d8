// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/json_fields.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tuner::store {
namespace {

constexpr std::int64_t kMostWhole = std::int64_t{1} << 53;

bool is_date(std::string_view text) {
  constexpr std::string_view kPattern = "0000-00-00T00:00:00Z";
  if (text.size() != kPattern.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kPattern[i] == '0' ? !digit : text[i] != kPattern[i]) return false;
  }
  return true;
}

}  // namespace

JsonFields::JsonFields(const SortedJson& object, std::string where, std::string prefix)
    : object_(object), where_(std::move(where)), prefix_(std::move(prefix)) {
  if (!object.is_object()) {
    fail(prefix_.empty()
             ? "is not an object"
             : fmt::format("'{}' is not an object", prefix_.substr(0, prefix_.size() - 1)));
  }
}

void JsonFields::fail(std::string_view why) const {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", where_, why));
}

void JsonFields::fail_value(std::string_view key, std::string_view expected) const {
  fail(fmt::format("'{}{}' must be {}", prefix_, key, expected));
}

bool JsonFields::has(std::string_view key) const {
  return object_.contains(key);
}

const SortedJson& JsonFields::value(std::string_view key) {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(fmt::format("'{}{}' is missing", prefix_, key));
  taken_.emplace(key);
  return *found;
}

JsonFields JsonFields::object(std::string_view key) {
  return {value(key), where_, fmt::format("{}{}.", prefix_, key)};
}

std::string JsonFields::text(std::string_view key) {
  const SortedJson& it = value(key);
  if (!it.is_string()) fail_value(key, "a text");
  auto text = it.get<std::string>();
  if (printable_name(text) != text) fail_value(key, "a text without control characters");
  return text;
}

std::string JsonFields::name(std::string_view key) {
  std::string it = text(key);
  if (it.empty()) fail_value(key, "a text that is not empty");
  return it;
}

std::string JsonFields::date(std::string_view key) {
  std::string it = text(key);
  if (!is_date(it)) fail_value(key, "a date such as 2026-01-02T03:04:05Z");
  return it;
}

std::int64_t JsonFields::whole(std::string_view key, std::int64_t least) {
  const SortedJson& it = value(key);
  const bool fits = it.is_number_unsigned()
                        ? it.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMostWhole)
                        : it.is_number_integer();
  if (!fits || it.get<std::int64_t>() < least) {
    fail_value(key, fmt::format("a whole number from {} to {}", least, kMostWhole));
  }
  return it.get<std::int64_t>();
}

int JsonFields::count(std::string_view key, int least) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const std::int64_t it = whole(key, least);
  if (it > kMost) fail_value(key, fmt::format("a whole number from {} to {}", least, kMost));
  return static_cast<int>(it);
}

double JsonFields::number(std::string_view key, double below) {
  const SortedJson& it = value(key);
  if (!it.is_number() || !(it.get<double>() < below)) {
    fail_value(key, fmt::format("a number below {:g}", below));
  }
  return it.get<double>();
}

double JsonFields::positive(std::string_view key, double below) {
  const double it = number(key, below);
  if (!(it > 0)) fail_value(key, "above 0");
  return it;
}

double JsonFields::at_least_zero(std::string_view key, double below) {
  const double it = number(key, below);
  if (!(it >= 0)) fail_value(key, "at least 0");
  return it;
}

std::optional<double> JsonFields::optional_positive(std::string_view key, double below) {
  if (value(key).is_null()) return std::nullopt;
  return positive(key, below);
}

void JsonFields::finish() const {
  for (const auto& [key, ignored] : object_.items()) {
    if (!taken_.contains(key)) fail(fmt::format("'{}{}' is not known", prefix_, key));
  }
}

}  // namespace tuner::store
