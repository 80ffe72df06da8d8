// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/json.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/json_reason.hpp"
#include "tuner/core/printable.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tuner {
namespace {

constexpr std::size_t kMaximumNesting = 32;

std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 == 0 on the first line
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

}  // namespace

/// nlohmann reports "[json.exception…] parse error at line 1, column 2: <why>": keep the why.
std::string json_reason(const std::string& what) {
  constexpr std::size_t kLongest = 200;
  const std::size_t start =
      what.starts_with("[json.exception.parse_error") ? what.find(": ") + 2 : what.find("] ") + 2;
  std::string why = what.substr(start, kLongest);
  std::ranges::replace_if(
      why, [](char c) { return (static_cast<unsigned char>(c) & 0x80) != 0; }, '?');
  if (what.size() > start + kLongest) why += " …";
  return why;
}

namespace {

/// Makes a document of what the parser reports. Every key is looked up in a set: nlohmann's own way
/// compares it with all before it in its object, which takes seconds for tens of thousands.
class DocumentBuilder final : public nlohmann::json_sax<Json> {
 public:
  DocumentBuilder(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& value) override { return put(std::move(value)); }

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (!open_.back().keys.insert(name).second) {
      fail(fmt::format("the key {} appears twice in one object", in_quotes(name)));
    }
    auto& members = open_.back().json->get_ref<Json::object_t&>();
    members.emplace_back(std::move(name), nullptr);
    value_ = &members.back().second;
    return true;
  }
  bool parse_error(std::size_t byte, const std::string& token,
                   const Json::exception& error) override {
    fail(fmt::format("not valid JSON at {}: {}{}", position(text_, byte == 0 ? 0 : byte - 1),
                     json_reason(error.what()), hint(token, error.what())));
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", printable_name(origin_), why));
  }

 private:
  /// What was probably meant; else empty.
  [[nodiscard]] std::string_view hint(std::string_view token, std::string_view what) const {
    const std::size_t first = text_.find_first_not_of(" \t\r\n");
    const char begin = first == std::string_view::npos ? '{' : text_[first];
    if (begin == '#' || begin == '_' || (begin >= 'a' && begin <= 'z')) {
      return "; a JSON file begins with { or [";
    }
    if (token.ends_with('\'')) return "; names and texts have double quotes";
    const bool is_value = what.find("unexpected string literal") != std::string_view::npos ||
                          what.find("unexpected '{'") != std::string_view::npos ||
                          what.find("unexpected '['") != std::string_view::npos;
    const bool is_end_wanted = what.ends_with("expected '}'") || what.ends_with("expected ']'");
    return is_value && is_end_wanted ? "; is the comma before it missing?" : "";
  }

  struct Open {
    Json* json;
    std::unordered_set<std::string> keys;  // of an object
  };

  /// Takes in a value where the document has come to; it stays where it is until what holds it is
  /// closed.
  Json& place(Json value) {
    if (open_.empty()) return root_ = std::move(value);
    if (open_.back().json->is_object()) return *value_ = std::move(value);
    open_.back().json->push_back(std::move(value));
    return open_.back().json->back();
  }
  bool put(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() == kMaximumNesting) {
      fail(fmt::format("nested deeper than {} levels", kMaximumNesting));
    }
    open_.push_back({&place(std::move(container)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_, origin_;
  Json root_;
  std::vector<Open> open_;
  Json* value_ = nullptr;  // of the key that was read last
};

}  // namespace

Json parse_json(std::string_view text, std::string_view origin) {
  DocumentBuilder builder(text, origin);
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    builder.fail("the file is empty");
  }
  static_cast<void>(Json::sax_parse(text, &builder, Json::input_format_t::json, /*strict=*/true,
                                    /*ignore_comments=*/true));
  return builder.take();
}

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json();
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  const bool cut = text.size() > kLongest;
  // `replace` covers a multi-byte character that the cut divides.
  const std::string shown = Json(std::string(text.substr(0, kLongest)))
                                .dump(-1, ' ', false, Json::error_handler_t::replace);
  return cut ? shown + "…" : shown;
}

}  // namespace tuner
