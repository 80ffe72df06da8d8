// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/code_hash.hpp"

#include "tuner/core/hash.hpp"
#include "tuner/family/source_token.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace tuner::family {
namespace {

using Kind = SourceToken::Kind;

/// The operators of several characters, longer ones before their beginnings: + + are two tokens
/// where a blank is between them, and one where none is.
constexpr std::array kOperators = {
    std::string_view("<<="), std::string_view(">>="), std::string_view("<=>"),
    std::string_view("->*"), std::string_view("..."), std::string_view("<<"),
    std::string_view(">>"),  std::string_view("<="),  std::string_view(">="),
    std::string_view("=="),  std::string_view("!="),  std::string_view("&&"),
    std::string_view("||"),  std::string_view("++"),  std::string_view("--"),
    std::string_view("+="),  std::string_view("-="),  std::string_view("*="),
    std::string_view("/="),  std::string_view("%="),  std::string_view("&="),
    std::string_view("|="),  std::string_view("^="),  std::string_view("->"),
    std::string_view("::"),  std::string_view(".*"),  std::string_view("##")};

/// The length of the operator at the beginning of adjacent marks.
std::size_t operator_length(std::string_view marks) {
  const auto* const found = std::ranges::find_if(
      kOperators, [&](std::string_view each) { return marks.starts_with(each); });
  return found == kOperators.end() ? 1 : found->size();
}

/// A directive with one blank for each run of blank space and comments. A blank stays where it
/// tells tokens apart: `#define F (x)` is not `#define F(x)`.
std::string directive_code(std::string_view text) {
  std::string code = "#";
  std::size_t end = 0;  // of the token before
  for (const SourceToken& token : source_tokens(text.substr(1))) {
    if (token.begin > end && end > 0) code += ' ';
    code += token.text;
    end = token.begin + token.text.size();
  }
  return code;
}

bool is_include(std::string_view token) {
  return token.starts_with("#include");
}

/// Whether a word and a literal are one token, as in u8"…" and "…"_suffix.
bool is_one(const SourceToken& before, const SourceToken& token) {
  if (before.begin + before.text.size() != token.begin) return false;
  return (before.kind == Kind::word && token.kind == Kind::literal) ||
         (before.kind == Kind::literal && token.kind == Kind::word);
}

std::vector<std::string> code_tokens(std::string_view code) {
  const std::vector<SourceToken> tokens = source_tokens(code);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const SourceToken& token = tokens[i];
    if (token.kind == Kind::directive) {
      result.push_back(directive_code(token.text));
    } else if (token.kind == Kind::mark) {
      std::size_t adjacent = 1;
      while (i + adjacent < tokens.size() && tokens[i + adjacent].kind == Kind::mark &&
             tokens[i + adjacent].begin == token.begin + adjacent) {
        ++adjacent;
      }
      const std::size_t length = operator_length(code.substr(token.begin, adjacent));
      result.emplace_back(code.substr(token.begin, length));
      i += length - 1;
    } else if (i > 0 && is_one(tokens[i - 1], token)) {
      result.back() += token.text;
    } else {
      result.emplace_back(token.text);
    }
  }
  return result;
}

}  // namespace

std::string code_hash(std::string_view code) {
  std::vector<std::string> tokens = code_tokens(code);
  for (auto first = tokens.begin(); first != tokens.end();) {
    first = std::find_if(first, tokens.end(), is_include);
    const auto last = std::find_if_not(first, tokens.end(), is_include);
    std::sort(first, last);
    first = last;
  }
  return sha256(std::vector<std::string_view>(tokens.begin(), tokens.end()));
}

}  // namespace tuner::family
