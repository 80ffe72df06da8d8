// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/file_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

namespace tuner {
namespace {

constexpr std::string_view kMissingKey = "the key \"";  // … is missing

std::string lines_of(const std::vector<FileError>& errors) {
  std::string text;
  for (std::size_t i = 0; i < std::min(errors.size(), kMostErrors); ++i) {
    text += (i > 0 ? "\n" : "") + errors[i].message;
  }
  if (errors.size() > kMostErrors) text += "\nand more";
  return text;
}

/// Finds values in a JSON document that the parser has accepted, comments included.
class JsonPlaces {
 public:
  explicit JsonPlaces(std::string_view text) : text_(text) { skip_space(); }

  /// Goes to the value of a key of the object here.
  [[nodiscard]] bool enter(std::string_view key) { return in_object(key, true); }
  /// Goes to a key of the object here.
  [[nodiscard]] bool to_key(std::string_view key) { return in_object(key, false); }
  /// Goes to an element of the array here.
  [[nodiscard]] bool enter(std::size_t element) {
    if (!take('[')) return false;
    for (std::size_t i = 0; at_ < text_.size() && text_[at_] != ']'; ++i) {
      if (i == element) return true;
      skip_value();
      static_cast<void>(take(','));
    }
    return false;
  }
  [[nodiscard]] std::pair<std::size_t, std::size_t> line_and_column() const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    return {line, at_ - (before.rfind('\n') + 1) + 1};  // npos + 1 == 0 on the first line
  }

 private:
  bool in_object(std::string_view key, bool is_value_wanted) {
    if (!take('{')) return false;
    while (at_ < text_.size() && text_[at_] == '"') {
      const std::size_t first = at_;
      const std::string_view name = read_string();
      const bool is_wanted = name == key;
      if (is_wanted && !is_value_wanted) {
        at_ = first;
        return true;
      }
      static_cast<void>(take(':'));
      if (is_wanted) return true;
      skip_value();
      static_cast<void>(take(','));
    }
    return false;
  }
  /// As it is written, without quotes.
  std::string_view read_string() {
    const std::size_t first = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2U : 1U;
    const std::string_view found = text_.substr(first, std::min(at_, text_.size()) - first);
    ++at_;
    skip_space();
    return found;
  }
  void skip_value() {
    std::size_t depth = 0;
    do {
      const char c = at_ < text_.size() ? text_[at_] : '\0';
      if (c == '\0') return;
      if (c == '"') {
        static_cast<void>(read_string());
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      const bool is_word = c != '{' && c != '[' && c != '}' && c != ']' && c != ',' && c != ':';
      ++at_;
      if (is_word) at_ = std::min(text_.find_first_of(",:]} \t\r\n/", at_), text_.size());
      skip_space();
    } while (depth > 0);
  }
  void skip_space() {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Follows "kernels.gemm.launch.grid[1]".
bool follow(JsonPlaces& places, std::string_view path) {
  while (!path.empty()) {
    if (path.front() == '[') {
      std::size_t element = 0;
      const auto [end, error] =
          std::from_chars(path.data() + 1, path.data() + path.size(), element);
      if (error != std::errc() || end == path.data() + path.size() || *end != ']') return false;
      path.remove_prefix(static_cast<std::size_t>(end - path.data()) + 1);
      if (!places.enter(element)) return false;
    } else {
      const std::string_view key = path.substr(0, path.find_first_of(".["));
      path.remove_prefix(key.size());
      if (!places.enter(key)) return false;
    }
    if (path.starts_with('.')) path.remove_prefix(1);
  }
  return true;
}

/// The key that a message says is unknown.
std::optional<std::string_view> unknown_key(std::string_view why) {
  for (const std::string_view begin : {"unknown key \"", "unknown key '"}) {
    if (!why.starts_with(begin)) continue;
    why.remove_prefix(begin.size());
    return why.substr(0, why.find(begin.back()));
  }
  return std::nullopt;
}

void place(FileError& error, std::string_view text, std::string_view origin) {
  const std::string_view message = error.message;
  if (error.line > 0 || !message.starts_with(origin) ||
      !message.substr(origin.size()).starts_with(": ")) {
    return;
  }
  std::string_view why = message.substr(origin.size() + 2);
  JsonPlaces places(text);
  bool is_found = why.starts_with(kMissingKey);  // of the whole document
  const std::string_view path = why.substr(0, std::min(why.find(": "), why.size()));
  if (JsonPlaces at_path(text); path.size() < why.size() && follow(at_path, path)) {
    places = at_path;
    is_found = true;
    why.remove_prefix(path.size() + 2);
  }
  if (const auto key = unknown_key(why)) {
    if (JsonPlaces at_key = places; at_key.to_key(*key)) {
      places = at_key;
      is_found = true;
    }
  }
  if (!is_found) return;
  std::tie(error.line, error.column) = places.line_and_column();
  error.message = fmt::format("{}:{}:{}: {}", origin, error.line, error.column,
                              message.substr(origin.size() + 2));
}

/// Whether a key is missing only because another error's key is a misspelling of it.
bool follows_from(const FileError& missing, const FileError& other) {
  const std::size_t at = missing.message.find(kMissingKey);
  if (at == std::string::npos) return false;
  const std::size_t first = at + kMissingKey.size();
  const std::string key = missing.message.substr(first, missing.message.find('"', first) - first);
  return other.message.starts_with(missing.message.substr(0, at) + "unknown key ") &&
         other.message.ends_with(fmt::format("(did you mean '{}'?)", key));
}

}  // namespace

FileErrors::FileErrors(std::vector<FileError> errors)
    : Error(ErrorCode::usage, lines_of(errors)), errors_(std::move(errors)) {}

void ErrorCollector::throw_any() const {
  if (errors_.empty()) return;
  std::vector<FileError> own;
  for (const FileError& each : errors_) {
    const auto explains = [&](const FileError& other) { return follows_from(each, other); };
    if (std::ranges::none_of(errors_, explains)) own.push_back(each);
  }
  if (own.size() == 1) throw Error(ErrorCode::usage, own.front().message);
  throw FileErrors(std::move(own));
}

FileErrors with_places(const Error& error, std::string_view text, std::string_view origin) {
  std::vector<FileError> errors = {{.message = error.what()}};
  if (const auto* several = dynamic_cast<const FileErrors*>(&error)) errors = several->errors();
  for (FileError& each : errors) place(each, text, origin);
  return FileErrors(std::move(errors));
}

}  // namespace tuner
