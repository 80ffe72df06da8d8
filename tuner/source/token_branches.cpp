// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/token_branches.hpp"

#include <algorithm>
#include <string_view>

namespace tuner::source {
namespace {

/// What a directive does to the branches around it.
enum class Step { none, opens, changes, closes };

std::string_view word_of(std::string_view directive) {
  directive.remove_prefix(1);
  const std::size_t begin = std::min(directive.find_first_not_of(" \t"), directive.size());
  directive.remove_prefix(begin);
  return directive.substr(
      0, std::min(directive.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), directive.size()));
}

Step step_of(const Token& token) {
  if (token.kind != Token::Kind::directive) return Step::none;
  const std::string_view word = word_of(token.text);
  if (word == "endif") return Step::closes;
  if (word.starts_with("el")) return Step::changes;
  if (!word.starts_with("if")) return Step::none;
  // A block of #if 0 is one directive with the line that ends it.
  const std::size_t last = token.text.rfind('\n');
  const std::size_t hash = last == std::string_view::npos ? last : token.text.find('#', last);
  const bool is_closed =
      hash != std::string_view::npos && word_of(token.text.substr(hash)) == "endif";
  return is_closed ? Step::none : Step::opens;
}

}  // namespace

std::vector<bool> taken_tokens(std::span<const Token> tokens, BranchChoice choice) {
  std::vector<bool> taken(tokens.size());
  std::vector<bool> levels;  // whether another branch than the one of choice is being read
  std::size_t others = 0;    // levels of which it is
  const bool is_first = choice == BranchChoice::first;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t at = is_first ? i : tokens.size() - 1 - i;
    const Step step = step_of(tokens[at]);
    if (step == (is_first ? Step::opens : Step::closes)) {
      levels.push_back(false);
    } else if (step == Step::changes && !levels.empty() && !levels.back()) {
      levels.back() = true;
      ++others;
    } else if (step == (is_first ? Step::closes : Step::opens) && !levels.empty()) {
      if (levels.back()) --others;
      levels.pop_back();
    }
    taken[at] = others == 0 || tokens[at].kind == Token::Kind::directive;
  }
  return taken;
}

}  // namespace tuner::source
