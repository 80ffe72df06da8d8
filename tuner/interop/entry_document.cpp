// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/entry_document.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tuner::interop {
namespace {

constexpr std::size_t kMaximumNesting = 32;
constexpr std::size_t kMostMembers = 1024;

/// Fills an EntryDocument from the events of nlohmann's parser.
class EntryReader final : public nlohmann::json_sax<Json> {
 public:
  EntryReader(std::span<const std::string_view> lists, std::string_view text,
              std::string_view origin)
      : lists_(lists), text_(text), origin_(origin) {}

  bool null() override { return value(nullptr); }
  bool boolean(bool it) override { return value(it); }
  bool number_integer(number_integer_t it) override { return value(it); }
  bool number_unsigned(number_unsigned_t it) override { return value(it); }
  bool number_float(number_float_t it, const string_t& /*text*/) override { return value(it); }
  bool string(string_t& it) override { return value(std::move(it)); }
  bool binary(binary_t& /*it*/) override { return false; }  // JSON text has none

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& it) override {
    key_ = std::move(it);
    return true;
  }

  bool parse_error(std::size_t byte, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*why*/) override {
    const std::string_view before = text_.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    refuse(fmt::format("not valid JSON at line {}, column {}", line,
                       before.size() - (before.rfind('\n') + 1) + 1));
  }

  /// What was read; to be taken once.
  EntryDocument take() {
    if (!document_.head.is_object()) refuse("must be a JSON object");
    return std::move(document_);
  }

 private:
  /// A container that is open, with the name under which it goes into the one around it.
  struct Open {
    Json json;
    std::string name;
  };

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error(ErrorCode::usage, fmt::format("{}: {}", origin_, why));
  }

  bool open(Json json) {
    if (open_.size() >= kMaximumNesting) {
      refuse(fmt::format("nested deeper than {} levels", kMaximumNesting));
    }
    if (open_.size() == 1 && document_.list.empty() && std::ranges::count(lists_, key_) > 0) {
      document_.list = key_;
      in_list_ = true;
    }
    open_.push_back({std::move(json), std::move(key_)});
    key_.clear();
    return true;
  }

  bool close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (in_list_ && open_.size() == 1) {
      in_list_ = false;
      return true;
    }
    key_ = std::move(closed.name);
    return value(std::move(closed.json));
  }

  bool value(Json json) {
    if (open_.empty()) {
      document_.head = std::move(json);
    } else if (in_list_ && open_.size() == 2) {
      document_.entries.emplace_back(std::move(key_), std::move(json));
    } else {
      insert(open_.back().json, std::move(json));
    }
    key_.clear();
    return true;
  }

  void insert(Json& container, Json json) {
    if (container.is_array()) {
      container.push_back(std::move(json));
      return;
    }
    if (container.size() >= kMostMembers) {
      refuse(fmt::format("an object has more than {} members", kMostMembers));
    }
    container[key_] = std::move(json);  // as in Python, the last of equal keys counts
  }

  std::span<const std::string_view> lists_;
  std::string_view text_, origin_;
  EntryDocument document_;
  std::vector<Open> open_;
  std::string key_;
  bool in_list_ = false;
};

/// Replaces what Python writes for numbers that JSON does not have.
std::string without_python_numbers(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kNumbers = {
      {{"NaN", "null"}, {"Infinity", "1e308"}}};
  std::string plain;
  plain.reserve(text.size() + text.size() / 8);
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_string = !in_string;
    const auto number = std::ranges::find_if(kNumbers, [&](const auto& it) {
      return !in_string && c == it.first.front() && text.substr(at).starts_with(it.first);
    });
    if (number != kNumbers.end()) {
      plain += number->second;
      at += number->first.size() - 1;
      continue;
    }
    plain += c;
    if (in_string && c == '\\' && at + 1 < text.size()) plain += text[++at];
  }
  return plain;
}

}  // namespace

EntryDocument parse_entry_document(std::string_view text, std::span<const std::string_view> lists,
                                   std::string_view origin) {
  std::string plain;
  if (text.find("NaN") != std::string_view::npos ||
      text.find("Infinity") != std::string_view::npos) {
    plain = without_python_numbers(text);
    text = plain;
  }
  EntryReader reader(lists, text, origin);
  Json::sax_parse(text, &reader, Json::input_format_t::json, /*strict=*/true,
                  /*ignore_comments=*/true);
  return reader.take();
}

}  // namespace tuner::interop
