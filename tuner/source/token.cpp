// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/token.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace tuner::source {
namespace {

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

bool is_blank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<Token> read() {
    while (skip_blanks()) {
      const std::size_t begin = at_;
      const char c = text_[at_];
      if (c == '#' && line_begins_) {
        skip_directive();
        add(Token::Kind::directive, begin);
      } else if (c == '"' || c == '\'') {
        skip_literal(c);
        add(Token::Kind::literal, begin);
      } else if (number_begins()) {
        skip_number();
        add(Token::Kind::word, begin);
      } else if (is_word_character(c)) {
        while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
        add(raw_string_follows(begin) ? Token::Kind::literal : Token::Kind::word, begin);
      } else {
        ++at_;
        add(Token::Kind::mark, begin);
      }
      line_begins_ = false;
    }
    return std::move(tokens_);
  }

 private:
  void add(Token::Kind kind, std::size_t begin) {
    tokens_.push_back({.kind = kind, .begin = begin, .text = text_.substr(begin, at_ - begin)});
  }

  [[nodiscard]] bool at(std::string_view expected) const {
    return text_.substr(at_).starts_with(expected);
  }

  void skip_to_behind(std::string_view end) {
    const std::size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
  }

  /// False at the end of the text.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') line_begins_ = true;
      if (is_blank(text_[at_])) {
        ++at_;
      } else if (character_bytes() > 1) {
        at_ += character_bytes();
      } else if (at("//")) {
        skip_line();
      } else if (at("/*")) {
        at_ += 2;
        skip_to_behind("*/");
      } else {
        return true;
      }
    }
    return false;
  }

  /// One, or a line break that a backslash takes away.
  [[nodiscard]] std::size_t character_bytes() const {
    if (at("\\\n")) return 2;
    return at("\\\r\n") ? 3 : 1;
  }

  /// Up to the line break, past those that a backslash takes away.
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      at_ += character_bytes();
    }
    at_ = std::min(at_, text_.size());
  }

  [[nodiscard]] std::string_view directive_word() const {
    std::size_t begin = at_ + 1;
    while (begin < text_.size() && (text_[begin] == ' ' || text_[begin] == '\t')) ++begin;
    std::size_t end = begin;
    while (end < text_.size() && is_word_character(text_[end])) ++end;
    return text_.substr(begin, end - begin);
  }

  void skip_directive() {
    const std::string_view word = directive_word();
    skip_directive_line();
    const char* const behind_word = word.data() + word.size();
    std::string_view condition(behind_word,
                               static_cast<std::size_t>(text_.data() + at_ - behind_word));
    while (!condition.empty() && is_blank(condition.front())) condition.remove_prefix(1);
    while (!condition.empty() && is_blank(condition.back())) condition.remove_suffix(1);
    if (word == "if" && condition == "0") {
      skip_disabled_block();
    }
  }

  /// A comment may carry a directive on to further lines.
  void skip_directive_line() {
    while (at_ < text_.size() && text_[at_] != '\n') {
      if (at("/*")) {
        at_ += 2;
        skip_to_behind("*/");
      } else if (at("//")) {
        skip_line();
      } else if (text_[at_] == '"' || text_[at_] == '\'') {
        skip_literal(text_[at_]);
      } else {
        at_ += character_bytes();
      }
    }
    at_ = std::min(at_, text_.size());
  }

  /// What #if 0 disables, up to the line of its #else or #endif: it may be no C++ at all.
  void skip_disabled_block() {
    int depth = 1;
    while (at_ < text_.size()) {
      ++at_;  // the line break
      std::size_t line = at_;
      while (line < text_.size() && (text_[line] == ' ' || text_[line] == '\t')) ++line;
      at_ = line;
      const bool is_directive = at_ < text_.size() && text_[at_] == '#';
      const std::string_view word = is_directive ? directive_word() : std::string_view();
      if (word.starts_with("if")) ++depth;
      if (word == "endif" || (depth == 1 && word.starts_with("el"))) --depth;
      skip_line();
      if (depth == 0) return;
    }
  }

  void skip_literal(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') {
      at_ += std::size_t{text_[at_] == '\\' ? 2U : 1U};
    }
    if (at_ < text_.size() && text_[at_] == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  [[nodiscard]] bool is_digit_at(std::size_t place) const {
    return place < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place])) != 0;
  }
  [[nodiscard]] bool number_begins() const {
    return is_digit_at(at_) || (text_[at_] == '.' && is_digit_at(at_ + 1));
  }

  /// As the preprocessor reads a number: 1'000, 0x1p-3, .5e+3f.
  void skip_number() {
    constexpr std::string_view kExponents = "eEpP";
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      const bool is_sign =
          (c == '+' || c == '-') && kExponents.find(text_[at_ - 1]) != std::string_view::npos;
      const bool separates =
          c == '\'' && at_ + 1 < text_.size() && is_word_character(text_[at_ + 1]);
      if (!is_word_character(c) && c != '.' && !is_sign && !separates) return;
    }
  }

  /// Reads R"x(…)x" to its end when the word before it begins one.
  bool raw_string_follows(std::size_t word) {
    const std::string_view prefix = text_.substr(word, at_ - word);
    constexpr std::array kPrefixes = {std::string_view("R"), std::string_view("LR"),
                                      std::string_view("uR"), std::string_view("UR"),
                                      std::string_view("u8R")};
    if (std::ranges::count(kPrefixes, prefix) == 0 || !at("\"")) return false;
    constexpr std::size_t kLongestDelimiter = 16;
    const std::size_t length = text_.substr(at_, kLongestDelimiter + 2).find('(');
    if (length == std::string_view::npos) return false;
    const std::size_t open = at_ + length;
    const std::string end = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    at_ = open;
    skip_to_behind(end);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  return Reader(text).read();
}

}  // namespace tuner::source
