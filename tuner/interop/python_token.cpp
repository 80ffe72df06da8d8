// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/python_token.hpp"

#include "tuner/interop/python_syntax.hpp"

#include <algorithm>

namespace tuner::interop {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<PythonToken> tokens() {
    std::vector<PythonToken> tokens;
    do {
      at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
      tokens.push_back(next());
    } while (tokens.back().kind != PythonTokenKind::end);
    return tokens;
  }

 private:
  PythonToken take(PythonTokenKind kind, std::size_t length) {
    const PythonToken token{kind, text_.substr(at_, length), at_};
    at_ += length;
    return token;
  }

  template <class Accepts>
  std::size_t run(Accepts accepts) const {
    std::size_t end = at_;
    while (end < text_.size() && accepts(text_[end])) ++end;
    return end - at_;
  }

  PythonToken next() {
    if (at_ == text_.size()) return {PythonTokenKind::end, {}, at_};
    const char c = text_[at_];
    if (is_letter(c)) {
      return take(PythonTokenKind::name, run([](char d) { return is_letter(d) || is_digit(d); }));
    }
    const bool fraction = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || fraction) return take(PythonTokenKind::number, number_length());
    if (c == '"' || c == '\'') return string(c);
    for (const std::string_view symbol : {"**", "//", "<<", ">>", "<=", ">=", "==", "!="}) {
      if (text_.substr(at_).starts_with(symbol)) return take(PythonTokenKind::symbol, 2);
    }
    if (std::string_view("+-*/%<>()[],").find(c) != std::string_view::npos) {
      return take(PythonTokenKind::symbol, 1);
    }
    throw PythonError{"a character that cannot be in a list of values", at_};
  }

  /// Digits, a fraction, an exponent: "1e-3" is one token and "1-3" are three.
  std::size_t number_length() const {
    std::size_t end = at_;
    while (end < text_.size()) {
      const char c = text_[end];
      const char before = end > at_ ? text_[end - 1] : '0';
      const bool sign = (c == '+' || c == '-') && (before == 'e' || before == 'E');
      if (!is_digit(c) && !is_letter(c) && c != '.' && !sign) break;
      ++end;
    }
    return end - at_;
  }

  PythonToken string(char quote) {
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) throw PythonError{"a string is not closed", at_};
    const PythonToken token{PythonTokenKind::string, text_.substr(at_ + 1, end - at_ - 1), at_};
    if (token.text.find('\\') != std::string_view::npos) {
      throw PythonError{"a string with a backslash is not supported", at_};
    }
    at_ = end + 1;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<PythonToken> python_tokens(std::string_view text) {
  return Tokenizer(text).tokens();
}

}  // namespace tuner::interop
