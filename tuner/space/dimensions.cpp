// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/dimensions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tuner::space {
namespace {

std::vector<Dimension> required_ones(const std::vector<std::string>& names) {
  std::vector<Dimension> dimensions;
  for (const std::string& name : names) dimensions.push_back({.name = name});
  return dimensions;
}

}  // namespace

std::string Dimension::text_of(std::int64_t value) const {
  const auto place = static_cast<std::size_t>(value);
  return value >= 0 && place < value_names.size() ? value_names[place] : fmt::format("{}", value);
}

std::optional<std::int64_t> Dimension::value_of(std::string_view wanted) const {
  const auto found = std::ranges::find(value_names, wanted);
  if (found == value_names.end()) return std::nullopt;
  return found - value_names.begin();
}

void declare_dimension(Scope& scope, const Dimension& dimension) {
  const bool is_named = !dimension.value_names.empty();
  const std::size_t slot =
      scope.declare(dimension.name, is_named ? ValueKind::word : ValueKind::number);
  // The first words of a scope, so that their numbers are the dimension's values.
  for (const std::string& word : dimension.value_names) static_cast<void>(scope.intern(word));
  for (const auto& [name, types] : dimension.types) {
    std::vector<std::int64_t> bytes;
    for (const ElementType type : types) {
      bytes.push_back(static_cast<std::int64_t>(element_bytes(type)));
    }
    scope.declare_bytes(name, slot, std::move(bytes));
  }
}

Dimensions::Dimensions(const std::vector<std::string>& names)
    : Dimensions(required_ones(names), {}) {}

Dimensions::Dimensions(std::vector<Dimension> dimensions, std::vector<Constraint> constraints)
    : dimensions_(std::move(dimensions)),
      constraints_(std::move(constraints)),
      required_(static_cast<std::size_t>(std::ranges::count_if(
          dimensions_, [](const Dimension& each) { return !each.default_value; }))) {}

std::vector<std::string> Dimensions::names() const {
  std::vector<std::string> result;
  for (const Dimension& dimension : dimensions_) result.push_back(dimension.name);
  return result;
}

std::optional<std::size_t> Dimensions::find(std::string_view name) const {
  const auto found = std::ranges::find(dimensions_, name, &Dimension::name);
  if (found == dimensions_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - dimensions_.begin());
}

std::optional<std::string> Dimensions::refusal(std::size_t dimension, std::int64_t value) const {
  const Dimension& it = dimensions_[dimension];
  if (!it.is_kind()) {
    if (value >= 1 && value <= kLargestDimension) return std::nullopt;
    return fmt::format("{} = {} is not in 1 … {}", it.name, value, kLargestDimension);
  }
  if (std::ranges::find(it.values, value) != it.values.end()) return std::nullopt;
  std::vector<std::string> known;
  for (const std::int64_t each : it.values) {
    known.push_back(it.value_names.empty() ? fmt::format("{}", each)
                                           : fmt::format("{} ({})", each, it.text_of(each)));
  }
  return fmt::format("{} = {} is none of {}", it.name, value, fmt::join(known, ", "));
}

Expected<std::int64_t, std::string> Dimensions::default_value(
    std::size_t dimension, std::span<const std::int64_t> before) const {
  const Dimension& it = dimensions_[dimension];
  if (!it.default_value) return Unexpected(fmt::format("{} is missing", it.name));
  const auto value = it.default_value->evaluate(before);
  if (value) return *value;
  return Unexpected(fmt::format("{} has no default here ({}: {}); name it", it.name,
                                it.default_value->text(), name(value.error())));
}

std::optional<std::string> Dimensions::violation(const Size& size) const {
  for (const Constraint& constraint : constraints_) {
    const auto value = constraint.expression.evaluate(size);
    if (value && *value != 0) continue;
    std::vector<std::string> seen;
    for (const std::size_t slot : constraint.expression.slots()) {
      const Dimension& dimension = dimensions_[slot];
      seen.push_back(fmt::format("{}={}", dimension.name, dimension.text_of(size[slot])));
    }
    const std::string fault = value ? "" : fmt::format("; {}", name(value.error()));
    return fmt::format("{} ({}): {}{}", constraint.expression.text(), constraint.why,
                       fmt::join(seen, ", "), fault);
  }
  return std::nullopt;
}

Expected<Size, std::string> Dimensions::complete(
    std::span<const std::optional<std::int64_t>> numbers) const {
  Size size;
  for (std::size_t i = 0; i < dimensions_.size(); ++i) {
    if (!numbers[i]) {
      const auto by_default = default_value(i, size);
      if (!by_default) return Unexpected(by_default.error());
      if (auto why = refusal(i, *by_default)) {
        return Unexpected(fmt::format("{}; that is its default here ({}), so name it", *why,
                                      dimensions_[i].default_value->text()));
      }
      size.push_back(*by_default);
      continue;
    }
    if (auto why = refusal(i, *numbers[i])) return Unexpected(*std::move(why));
    size.push_back(*numbers[i]);
  }
  if (auto why = violation(size)) return Unexpected(*std::move(why));
  return size;
}

bool Dimensions::is_default(std::size_t dimension, const Size& size) const {
  if (!dimensions_[dimension].default_value) return false;
  const auto value = default_value(dimension, std::span(size).first(dimension));
  return value && *value == size[dimension];
}

}  // namespace tuner::space
