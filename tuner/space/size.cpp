// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/size.hpp"

#include "tuner/core/suggest.hpp"
#include "tuner/space/parameter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tuner::space {
namespace {

using Numbers = std::vector<std::optional<std::int64_t>>;  // of a size, as far as they are given

/// A size as written, before its numbers are assigned to dimensions.
struct WrittenSize {
  std::vector<std::int64_t> by_position;
  std::vector<std::pair<std::string, std::string>> by_name;  // a number or a word
};

Expected<std::int64_t, std::string> number_in(std::string_view text) {
  if (text.empty()) return Unexpected(std::string("a number is missing"));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return Unexpected(fmt::format("{} is not a whole number", in_quotes(text)));
  }
  if (error != std::errc{}) return Unexpected(fmt::format("{} is too large", text));
  return value;
}

/// A value of a dimension as it is written: by its name where it has one.
Expected<std::int64_t, std::string> value_in(std::string_view text, const Dimension& dimension) {
  if (dimension.value_names.empty()) return number_in(text);
  if (const auto value = dimension.value_of(text)) return *value;
  return Unexpected(fmt::format(
      "{} = {} is none of {}{}", dimension.name, text, fmt::join(dimension.value_names, ", "),
      closest(text, dimension.value_names) ? did_you_mean(text, dimension.value_names) : ""));
}

Expected<WrittenSize, std::string> read_written(std::string_view text) {
  WrittenSize size;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t mark = std::min(text.find_first_of("=,", start), text.size());
    const std::string_view name = text.substr(start, mark - start);
    const bool named = mark < text.size() && text[mark] == '=' && is_word(name);
    const std::size_t first = named ? mark + 1 : start;  // a name may hold an x
    const std::string_view rest = text.substr(first);
    const bool is_word_there =
        named && is_word(rest.substr(0, std::min<std::size_t>(rest.size(), 1)));
    const std::size_t end =  // a word may hold an x
        std::min(text.find_first_of(is_word_there ? "," : ",x", first), text.size());
    const std::string_view value = text.substr(first, end - first);
    if (is_word_there && is_word(value)) {
      size.by_name.emplace_back(name, value);
      start = end + 1;
      continue;
    }
    const auto number = number_in(value);
    if (!number) return Unexpected(number.error());
    if (named) {
      size.by_name.emplace_back(name, fmt::format("{}", *number));
    } else if (size.by_name.empty()) {
      size.by_position.push_back(*number);
    } else {
      return Unexpected(fmt::format("{} follows {}=…: numbers without a name come first", *number,
                                    size.by_name.back().first));
    }
    start = end + 1;
  }
  return size;
}

std::string unknown_name(std::string_view name, const Dimensions& dims) {
  return fmt::format("no dimension is named {}{}", in_quotes(name),
                     did_you_mean(name, dims.names()));
}

std::string wrong_count(std::size_t count, const Dimensions& dims) {
  std::vector<std::string> names = dims.names();
  const std::vector<std::string> optional(
      names.begin() + static_cast<std::ptrdiff_t>(dims.required()), names.end());
  names.resize(dims.required());
  return fmt::format("{} number{} where {} {} needed: {}{}", count, count == 1 ? "" : "s",
                     dims.required(), dims.required() == 1 ? "is" : "are", fmt::join(names, ","),
                     optional.empty()
                         ? ""
                         : fmt::format("; others are named, as {}={} (known: {})", optional.front(),
                                       dims[dims.required()].value_names.empty()
                                           ? "1"
                                           : dims[dims.required()].value_names.back(),
                                       fmt::join(optional, ", ")));
}

/// How to name a type in a size that has the name alone, or none: "; write TYPE=bf16".
std::string how_to_name(std::string_view text, const Dimensions& dims) {
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    for (const Dimension& it : dims) {
      if (it.value_of(word)) return fmt::format("; write {}={}", it.name, word);
      if (it.value_names.empty() || word != it.name + "=") continue;
      return fmt::format("; {} is one of {}", it.name, fmt::join(it.value_names, ", "));
    }
  }
  return "";
}

Expected<Size, std::string> sized(const WrittenSize& written, const Dimensions& dims) {
  Numbers numbers(dims.size());
  const bool all_named = written.by_position.empty();
  if (!all_named && written.by_position.size() != dims.required()) {
    return Unexpected(wrong_count(written.by_position.size(), dims));
  }
  std::ranges::copy(written.by_position, numbers.begin());
  for (const auto& [name, number] : written.by_name) {
    const auto dimension = dims.find(name);
    if (!dimension) return Unexpected(unknown_name(name, dims));
    if (numbers[*dimension]) return Unexpected(fmt::format("{} is given twice", name));
    const auto value = value_in(number, dims[*dimension]);
    if (!value) return Unexpected(value.error());
    numbers[*dimension] = *value;
  }
  return dims.complete(numbers);
}

Expected<Size, std::string> read_size(std::string_view text, const Dimensions& dims) {
  const auto written = read_written(text);
  if (!written) return Unexpected(written.error() + how_to_name(text, dims));
  return sized(*written, dims);
}

[[noreturn]] void refuse_text(std::string_view text, std::string_view why) {
  refuse(fmt::format("size {}", in_quotes(text)), why);
}

std::int64_t whole_number(const Json& json, std::string_view name, std::string_view where) {
  const bool too_large = json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX;
  if (json.is_number_integer() && !too_large) return json.get<std::int64_t>();
  refuse(where,
         fmt::format("{} must be an integer, is {}", name,
                     json.is_number() ? json.dump() : fmt::format("a {}", json.type_name())));
}

Numbers listed_numbers(const Json& json, const Dimensions& dims, std::string_view where) {
  check_listed(json, dims, where);
  Numbers numbers(dims.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    numbers[i] = whole_number(json[i], dims[i].name, where);
  }
  return numbers;
}

Numbers named_numbers(const Json& json, const Dimensions& dims, std::string_view where) {
  Numbers numbers(dims.size());
  for (const auto& [name, value] : json.items()) {
    const auto dimension = dims.find(name);
    if (!dimension) refuse(where, unknown_name(name, dims));
    if (dims[*dimension].value_names.empty()) {
      numbers[*dimension] = whole_number(value, name, where);
      continue;
    }
    const auto known =
        value_in(value.is_string() ? value.get<std::string>() : value.dump(), dims[*dimension]);
    if (!known) refuse(where, known.error());
    numbers[*dimension] = *known;
  }
  return numbers;
}

std::string written(const Size& size, const Dimensions& dims, std::string_view separator) {
  if (size.size() != dims.size()) return fmt::format("{}", fmt::join(size, separator));
  std::string text =
      fmt::format("{}", fmt::join(std::span(size).first(dims.required()), separator));
  for (std::size_t i = dims.required(); i < size.size(); ++i) {
    if (dims.is_default(i, size)) continue;
    text += fmt::format(",{}={}", dims[i].name, dims[i].text_of(size[i]));
  }
  return text;
}

}  // namespace

void check_listed(const Json& list, const Dimensions& dims, std::string_view where) {
  if (list.size() == dims.required()) return;
  const std::vector<std::string> names = dims.names();
  const std::span needed = std::span(names).first(dims.required());
  const std::span others = std::span(names).subspan(dims.required());
  refuse(where,
         fmt::format("must have exactly {} number{} ({}), has {}{}", needed.size(),
                     needed.size() == 1 ? "" : "s", fmt::join(needed, ", "), list.size(),
                     others.empty() ? ""
                                    : fmt::format("; to set {} too, write an object with the names",
                                                  fmt::join(others, ", "))));
}

Size parse_size(std::string_view text, const Dimensions& dims) {
  auto size = read_size(text, dims);
  if (!size) refuse_text(text, size.error());
  return *std::move(size);
}

std::optional<Size> stored_size(std::string_view text, const Dimensions& dims) {
  auto size = read_size(text, dims);
  if (!size) return std::nullopt;
  return *std::move(size);
}

std::string normalised_size(std::string_view text) {
  const auto size = read_written(text);
  if (!size) refuse_text(text, size.error());
  std::string result = fmt::format("{}", fmt::join(size->by_position, ","));
  for (const auto& [name, number] : size->by_name) {
    result += fmt::format("{}{}={}", result.empty() ? "" : ",", name, number);
  }
  return result;
}

Size size_from_json(const Json& json, const Dimensions& dims, std::string_view where) {
  if (!json.is_array() && !json.is_object()) {
    refuse(where, fmt::format("must be a list of numbers or an object, is a {}", json.type_name()));
  }
  auto size = dims.complete(json.is_array() ? listed_numbers(json, dims, where)
                                            : named_numbers(json, dims, where));
  if (!size) refuse(where, size.error());
  return *std::move(size);
}

Json size_json(const Size& size, const Dimensions& dims) {
  Json list = Json::array();
  Json object = Json::object();
  for (std::size_t i = 0; i < size.size(); ++i) {
    if (dims.is_default(i, size)) continue;
    const Json value = dims[i].value_names.empty() ? Json(size[i]) : Json(dims[i].text_of(size[i]));
    list.push_back(value);
    object[dims[i].name] = value;
  }
  return list.size() == dims.required() ? list : object;
}

std::string canonical_size(const Size& size, const Dimensions& dims) {
  return written(size, dims, ",");
}

std::string display(const Size& size, const Dimensions& dims) {
  return written(size, dims, "x");
}

}  // namespace tuner::space
