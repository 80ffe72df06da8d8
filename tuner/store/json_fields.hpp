// SPDX-License-Identifier: Apache-2.0
// Internal to store: the fields of a JSON object from outside, each checked as it is taken.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace tuner::store {

/// Keys sorted at every level: equal values are equal text.
using SortedJson = nlohmann::json;

/// Takes the fields of an object that outlives it. Throws Error(usage) with the place in the file
/// and the field's name for one that is missing, of another type or out of range.
class JsonFields {
 public:
  /// `prefix` stands before the names in messages: "device.".
  JsonFields(const SortedJson& object, std::string where, std::string prefix);

  [[noreturn]] void fail(std::string_view why) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] const SortedJson& value(std::string_view key);
  [[nodiscard]] JsonFields object(std::string_view key);
  [[nodiscard]] std::string text(std::string_view key);  ///< one line, as printable_name() has it
  [[nodiscard]] std::string name(std::string_view key);  ///< a text that is not empty
  [[nodiscard]] std::string date(std::string_view key);  ///< UTC, ISO 8601, to the second
  /// A whole number from `least` to 2^53; one that is kept in an int is at most 2^31 - 1.
  [[nodiscard]] std::int64_t whole(std::string_view key, std::int64_t least);
  [[nodiscard]] int count(std::string_view key, int least);
  [[nodiscard]] double positive(std::string_view key, double below);
  [[nodiscard]] double at_least_zero(std::string_view key, double below);
  [[nodiscard]] std::optional<double> optional_positive(std::string_view key, double below);
  /// Fails when the object has a field that was not taken.
  void finish() const;

 private:
  [[nodiscard]] double number(std::string_view key, double below);
  [[noreturn]] void fail_value(std::string_view key, std::string_view expected) const;

  const SortedJson& object_;
  std::string where_;
  std::string prefix_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace tuner::store
