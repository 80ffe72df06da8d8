// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace tuner::space {
namespace {

using namespace std::string_view_literals;

constexpr std::array kKeywords = {"and"sv,  "or"sv,    "not"sv,  "in"sv,
                                  "true"sv, "false"sv, "True"sv, "False"sv};

struct Comparison {
  std::string_view symbol;
  Operation operation;
};
constexpr std::array kComparisons = {
    Comparison{"<", Operation::less},    Comparison{"<=", Operation::less_equal},
    Comparison{">", Operation::greater}, Comparison{">=", Operation::greater_equal},
    Comparison{"==", Operation::equal},  Comparison{"!=", Operation::not_equal},
};

constexpr std::array kArithmetic = {
    ArithmeticOperator{"|", Operation::bit_or, 1},
    ArithmeticOperator{"^", Operation::bit_xor, 2},
    ArithmeticOperator{"&", Operation::bit_and, 3},
    ArithmeticOperator{"<<", Operation::shift_left, 4},
    ArithmeticOperator{">>", Operation::shift_right, 4},
    ArithmeticOperator{"+", Operation::add, 5},
    ArithmeticOperator{"-", Operation::subtract, 5},
    ArithmeticOperator{"*", Operation::multiply, 6},
    ArithmeticOperator{"/", Operation::divide, 6},
    ArithmeticOperator{"//", Operation::floor_divide, 6},
    ArithmeticOperator{"%", Operation::modulo, 6},
};

constexpr std::array kFunctions = {
    Function{"min", Operation::minimum, 2, kAnyNumber},
    Function{"max", Operation::maximum, 2, kAnyNumber},
    Function{"abs", Operation::absolute, 1, 1},
    Function{"ceil_div", Operation::ceil_divide, 2, 2},
    Function{"is_pow2", Operation::is_power_of_two, 1, 1},
    Function{"log2", Operation::log2, 1, 1},
    Function{"align_up", Operation::align_up, 2, 2},
};

using namespace std::string_view_literals;

/// Longer symbols first, so that "<=" is not read as "<".
constexpr std::array kSymbols = {"<<"sv, ">>"sv, "<="sv, ">="sv, "=="sv, "!="sv, "&&"sv,
                                 "||"sv, "//"sv, "+"sv,  "-"sv,  "*"sv,  "/"sv,  "%"sv,
                                 "<"sv,  ">"sv,  "&"sv,  "|"sv,  "^"sv,  "~"sv,  "!"sv,
                                 "?"sv,  ":"sv,  "("sv,  ")"sv,  "["sv,  "]"sv,  ","sv};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      tokens.push_back(next());
    } while (tokens.back().kind != TokenKind::end);
    return tokens;
  }

 private:
  Token next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    if (at_ == text_.size()) return {TokenKind::end, {}, at_, 1, 0};
    if (is_digit(text_[at_])) return number();
    if (is_letter(text_[at_])) return take(TokenKind::name, end_of_name());
    if (text_[at_] == '\'') return word();
    return symbol();
  }

  Token take(TokenKind kind, std::size_t end) {
    const Token token{kind, text_.substr(at_, end - at_), at_, end - at_, 0};
    at_ = end;
    return token;
  }

  /// A name may have dotted parts: dev.warp_size.
  std::size_t end_of_name() const {
    std::size_t end = at_;
    while (end < text_.size() &&
           (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) {
      ++end;
    }
    return end;
  }

  Token number() {
    const std::size_t end = end_of_name();
    Token token = take(TokenKind::number, end);
    const char* last = token.text.data() + token.text.size();
    const auto [stop, code] = std::from_chars(token.text.data(), last, token.number);
    constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;
    if (code == std::errc::result_out_of_range || (stop == last && token.number > kLargest)) {
      throw ExpressionError{"the number does not fit in 64 bits", token.column, token.length};
    }
    if (stop != last) {
      const bool decimal = *stop == '.';
      throw ExpressionError{
          decimal ? "numbers in an expression are whole (3/2 may be a part of one); a number by "
                    "value with a fraction is written without quotes"
                  : fmt::format("'{}' is neither a number nor a name", token.text),
          token.column, token.length};
    }
    return token;
  }

  Token word() {
    const std::size_t close = text_.find('\'', at_ + 1);
    if (close == std::string_view::npos) {
      throw ExpressionError{"the closing ' is missing", at_, text_.size() - at_};
    }
    Token token = take(TokenKind::word, close + 1);
    token.text = token.text.substr(1, token.text.size() - 2);
    return token;
  }

  Token symbol() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("**")) {
      throw ExpressionError{"there is no power operator; write a product, or 1 << n", at_, 2};
    }
    for (const std::string_view candidate : kSymbols) {
      if (rest.starts_with(candidate)) return take(TokenKind::symbol, at_ + candidate.size());
    }
    if (rest.front() == '=') {
      throw ExpressionError{"'=' is not an operator (did you mean '=='?)", at_, 1};
    }
    const bool printable = rest.front() >= ' ' && rest.front() <= '~';
    throw ExpressionError{printable ? fmt::format("unexpected character '{}'", rest.front())
                                    : "unexpected character that is not plain ASCII",
                          at_, 1};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_keyword(std::string_view word) {
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end();
}

std::optional<Operation> find_comparison(std::string_view symbol) {
  for (const Comparison& comparison : kComparisons) {
    if (comparison.symbol == symbol) return comparison.operation;
  }
  return std::nullopt;
}

const ArithmeticOperator* find_arithmetic(std::string_view symbol) {
  for (const ArithmeticOperator& candidate : kArithmetic) {
    if (candidate.symbol == symbol) return &candidate;
  }
  return nullptr;
}

const Function* find_function(std::string_view name) {
  for (const Function& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Function& function : kFunctions) result.emplace_back(function.name);
    return result;
  }();
  return names;
}

std::vector<Token> tokenize(std::string_view text) {
  return Tokenizer(text).run();
}

}  // namespace tuner::space
