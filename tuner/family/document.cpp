// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/document.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file_errors.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tuner::family {
namespace {

/// "a string", "an object": what a value is, for messages.
std::string_view type_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "a number";
    case Json::value_t::null:
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return "null";
}

bool fits_integer(const Json& json) {
  if (!json.is_number_integer()) return false;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return !json.is_number_unsigned() || json.get<std::uint64_t>() <= kLargest;
}

constexpr std::string_view kNameRule =
    "a name is a letter or _ followed by at most 63 letters, digits or _";

}  // namespace

std::string DocumentNode::where() const {
  return path_.empty() ? origin_ : fmt::format("{}: {}", origin_, path_);
}

void DocumentNode::fail(std::string_view what) const {
  throw Error(ErrorCode::usage, fmt::format("{}: {}", where(), what));
}

void DocumentNode::fail_type(std::string_view wanted) const {
  fail(fmt::format("must be {}, is {}", wanted, type_of(*json_)));
}

DocumentNode DocumentNode::member(std::string_view key, const Json& json) const {
  return {json, origin_, path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key)};
}

void DocumentNode::expect_keys(std::initializer_list<std::string_view> keys) const {
  constexpr std::size_t kFew = 8;  // more do not help
  if (!json_->is_object()) {
    fail_type(keys.size() > kFew ? "an object"
                                 : fmt::format("an object (keys: {})", fmt::join(keys, ", ")));
  }
  const std::vector<std::string> known(keys.begin(), keys.end());
  ErrorCollector errors;
  for (const auto& [key, value] : json_->items()) {
    if (errors.is_full()) break;
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    errors.attempt(
        [&] { fail(fmt::format("unknown key {}{}", in_quotes(key), did_you_mean(key, known))); });
  }
  errors.throw_any();
}

std::optional<DocumentNode> DocumentNode::find(std::string_view key) const {
  if (!json_->is_object()) fail_type("an object");
  const auto found = json_->find(key);
  if (found == json_->end()) return std::nullopt;
  return member(key, *found);
}

DocumentNode DocumentNode::at(std::string_view key) const {
  auto found = find(key);
  if (!found) fail(fmt::format("the key \"{}\" is missing", key));
  return *std::move(found);
}

std::vector<std::pair<std::string, DocumentNode>> DocumentNode::named_members() const {
  if (!json_->is_object()) fail_type("an object");
  std::vector<std::pair<std::string, DocumentNode>> result;
  for (const auto& [key, value] : json_->items()) {
    if (!space::is_word(key))
      fail(fmt::format("the key {} is not a name: {}", in_quotes(key), kNameRule));
    result.emplace_back(key, member(key, value));
  }
  return result;
}

std::vector<DocumentNode> DocumentNode::elements(std::size_t minimum, std::size_t maximum) const {
  if (!json_->is_array()) fail_type("an array");
  const std::size_t count = json_->size();
  if (count < minimum || count > maximum) {
    const std::string wanted = minimum == maximum ? fmt::format("exactly {}", minimum)
                               : count < minimum  ? fmt::format("at least {}", minimum)
                                                  : fmt::format("at most {}", maximum);
    fail(fmt::format("must have {} element{}, has {}", wanted, wanted.ends_with(" 1") ? "" : "s",
                     count));
  }
  std::vector<DocumentNode> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({(*json_)[i], origin_, fmt::format("{}[{}]", path_, i)});
  }
  return result;
}

std::string DocumentNode::text() const {
  if (!json_->is_string()) fail_type("a string");
  auto result = json_->get<std::string>();
  if (printable(result) != result || result.find('\n') != std::string::npos) {
    fail(fmt::format("{} holds a control character: texts are one line without any",
                     in_quotes(result)));
  }
  return result;
}

std::string DocumentNode::name() const {
  std::string result = text();
  if (!space::is_word(result))
    fail(fmt::format("{} is not a name: {}", in_quotes(result), kNameRule));
  return result;
}

std::int64_t DocumentNode::integer(std::int64_t minimum, std::int64_t maximum) const {
  if (!json_->is_number()) fail_type("an integer");
  if (!fits_integer(*json_) || *json_ < minimum || *json_ > maximum) {
    fail(fmt::format("must be an integer in {} … {}, is {}", minimum, maximum, json_->dump()));
  }
  return json_->get<std::int64_t>();
}

double DocumentNode::number() const {
  if (!json_->is_number()) fail_type("a number");
  const auto value = json_->get<double>();
  if (!std::isfinite(value)) fail(fmt::format("must be a finite number, is {}", json_->dump()));
  return value;
}

bool DocumentNode::boolean() const {
  if (!json_->is_boolean()) fail_type("true or false");
  return json_->get<bool>();
}

space::Expression DocumentNode::expression(const space::Scope& scope) const {
  if (fits_integer(*json_)) return space::Expression::constant(json_->get<std::int64_t>());
  if (!json_->is_string()) {
    if (json_->is_number()) fail(fmt::format("must be a 64-bit integer, is {}", json_->dump()));
    fail_type("an expression (a string) or an integer");
  }
  const auto text = json_->get<std::string>();
  auto compiled = space::Expression::compile(text, scope);
  if (!compiled) fail(compiled.error().with_caret(text));
  if (compiled->kind() != space::ValueKind::number) {
    fail(fmt::format("{} is a word where a number is needed", in_quotes(text)));
  }
  return *std::move(compiled);
}

}  // namespace tuner::family
