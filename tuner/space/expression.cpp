// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/expression.hpp"

#include "tuner/space/generate.hpp"
#include "tuner/space/syntax.hpp"
#include "tuner/space/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tuner::space {
namespace {

constexpr std::size_t kMaximumLength = 4096;

bool reads_slot(const Instruction& instruction) {
  return instruction.operation == Operation::load || instruction.right == OperandSource::slot;
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

}  // namespace

std::size_t Scope::declare(std::string name, ValueKind kind) {
  const std::size_t slot = order_.size();
  if (!symbols_.emplace(name, Symbol{slot, kind}).second) {
    throw std::invalid_argument("declared twice: " + name);
  }
  order_.push_back(std::move(name));
  return slot;
}

std::int64_t Scope::intern(const std::string& word) {
  return words_.emplace(word, static_cast<std::int64_t>(words_.size())).first->second;
}

const Scope::Symbol* Scope::find(std::string_view name) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : &found->second;
}

const std::int64_t* Scope::find_word(std::string_view word) const {
  const auto found = words_.find(word);
  return found == words_.end() ? nullptr : &found->second;
}

void Scope::declare_bytes(const std::string& name, std::size_t slot,
                          std::vector<std::int64_t> by_value) {
  bytes_[name] = {slot, std::move(by_value)};
}

const Scope::Bytes* Scope::find_bytes(std::string_view name) const {
  const auto found = bytes_.find(name);
  return found == bytes_.end() ? nullptr : &found->second;
}

std::vector<std::string> Scope::names_with_bytes() const {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : bytes_) names.push_back(name);
  return names;
}

std::vector<std::string> Scope::names() const {
  return order_;
}

std::vector<std::string> Scope::words() const {
  std::vector<std::string> words;
  for (const auto& [word, number] : words_) words.push_back(word);
  return words;
}

std::string ExpressionError::with_caret(std::string_view text) const {
  constexpr std::size_t kBefore = 60;  // characters shown of a long line
  constexpr std::size_t kAfter = 40;
  const std::size_t start = column > kBefore ? column - kBefore : 0;
  std::string shown(text.substr(std::min(start, text.size()), kBefore + kAfter));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  std::replace_if(shown.begin(), shown.end(), is_control, ' ');
  const std::size_t carets = std::min(length, kAfter);
  return fmt::format("{}\n    {}\n    {:{}}{:^>{}}", message, shown, "", column - start, "",
                     carets);
}

Expression::Expression(std::string text, std::shared_ptr<const Syntax> syntax, std::size_t root)
    : text_(std::move(text)),
      syntax_(std::move(syntax)),
      root_(root),
      kind_(syntax_->nodes[root].value_kind),
      code_(generate(*syntax_, root)) {
  for (const Instruction& instruction : code_) {
    if (reads_slot(instruction)) slots_.push_back(instruction.index);
    if (instruction.operation == Operation::divide) fractional_ = true;
  }
  std::sort(slots_.begin(), slots_.end());
  slots_.erase(std::unique(slots_.begin(), slots_.end()), slots_.end());
}

std::vector<std::string> Expression::tokens() const {
  std::vector<std::string> result;
  for (const Token& token : tokenize(text_)) {
    if (token.kind != TokenKind::end) result.push_back(text_.substr(token.column, token.length));
  }
  return result;
}

Expected<Expression, ExpressionError> Expression::compile(std::string_view text,
                                                          const Scope& scope) {
  if (text.size() > kMaximumLength) {
    return Unexpected(ExpressionError{fmt::format("longer than {} characters", kMaximumLength),
                                      kMaximumLength, 1});
  }
  try {
    const auto syntax = std::make_shared<const Syntax>(parse_expression(text, scope));
    return Expression(std::string(text), syntax, syntax->root);
  } catch (ExpressionError& error) {
    return Unexpected(std::move(error));
  }
}

Expression Expression::constant(std::int64_t value) {
  const auto syntax =
      std::make_shared<const Syntax>(Syntax{{{.kind = NodeKind::constant, .value = value}}, 0});
  return {std::to_string(value), syntax, 0};
}

std::vector<Expression> Expression::conjuncts() const {
  Syntax split = *syntax_;
  const std::vector<std::size_t> parts = split_conjunction(split, root_);
  if (parts.size() == 1) return {*this};
  const auto syntax = std::make_shared<const Syntax>(std::move(split));
  std::vector<Expression> result;
  for (const std::size_t part : parts) {
    const Node& node = syntax->nodes[part];
    result.push_back(Expression(text_.substr(node.column, node.length), syntax, part));
  }
  return result;
}

bool is_word(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_name(std::string_view text) {
  const std::vector<std::string>& functions = function_names();
  return is_word(text) && !is_keyword(text) &&
         std::find(functions.begin(), functions.end(), text) == functions.end();
}

}  // namespace tuner::space
