// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/code_hash.hpp"

#include "tuner/core/hash.hpp"
#include "tuner/source/token.hpp"

#include <algorithm>
#include <array>
#include <ranges>
#include <vector>

namespace tuner::source {
namespace {

using Kind = Token::Kind;

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
    std::string_view("::"),  std::string_view(".*"),  std::string_view("##"),
    std::string_view("<:"),  std::string_view(":>"),  std::string_view("<%"),
    std::string_view("%>")};

constexpr std::size_t kLongestOperator = 3;

/// The length of the operator at the beginning of the text, of which so many characters are marks.
std::size_t operator_length(std::string_view text, std::size_t marks) {
  const auto* const found = std::ranges::find_if(kOperators, [&](std::string_view each) {
    return each.size() <= marks && text.starts_with(each);
  });
  return found == kOperators.end() ? 1 : found->size();
}

/// The code without the line breaks that a backslash takes away, which join tokens, as compilers
/// read it. \r\n is a line break too.
std::string without_splices(std::string_view code) {
  std::string joined;
  joined.reserve(code.size());
  std::size_t begin = 0;  // of what is not copied yet
  for (std::size_t at = code.find('\\'); at < code.size(); at = code.find('\\', at + 1)) {
    const std::string_view rest = code.substr(at + 1, 2);
    const std::size_t line_break = rest.starts_with('\n') ? 1 : rest == "\r\n" ? 2 : 0;
    if (line_break == 0) continue;
    joined += code.substr(begin, at - begin);
    begin = at + 1 + line_break;
  }
  return joined += code.substr(begin);
}

/// The first word of a directive, without its #, and what follows it.
struct DirectiveParts {
  std::string_view word, rest;
};
DirectiveParts parts_of(std::string_view directive) {
  constexpr std::string_view kBlanks = " \t\v\f";
  directive.remove_prefix(std::min(directive.find_first_not_of(kBlanks), directive.size()));
  const std::size_t end =
      std::min(directive.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), directive.size());
  std::string_view rest = directive.substr(end);
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  return {directive.substr(0, end), rest};
}

/// The name of a header between < and >, in which // is no comment; empty where there is none.
std::string_view header_name(const DirectiveParts& directive) {
  if (directive.word != "include" || !directive.rest.starts_with('<')) return {};
  const std::size_t close = directive.rest.find_first_of(">\n");
  if (close == std::string_view::npos || directive.rest[close] != '>') return {};
  return directive.rest.substr(0, close + 1);
}

/// A directive with one blank for each run of blank space and comments. A blank stays where it
/// tells tokens apart: `#define F (x)` is not `#define F(x)`.
std::string directive_code(std::string_view text) {
  std::string code = "#";
  std::string_view rest = text.substr(1);
  if (const std::string_view header = header_name(parts_of(rest)); !header.empty()) {
    code += "include ";
    code += header;
    rest.remove_prefix(static_cast<std::size_t>(header.data() + header.size() - rest.data()));
  }
  std::size_t end = 0;  // of the token before
  for (const Token& token : tokens_of(rest)) {
    if (token.begin > end && end > 0) code += ' ';
    code += token.text;
    end = token.begin + token.text.size();
  }
  return code;
}

/// Whether a word and a literal are one token, as in u8"…" and "…"_suffix.
bool is_one(const Token& before, const Token& token) {
  if (before.begin + before.text.size() != token.begin) return false;
  return (before.kind == Kind::word && token.kind == Kind::literal) ||
         (before.kind == Kind::literal && token.kind == Kind::word);
}

/// Whether blank space or a comment is between two tokens of a line or of several.
bool is_apart(const Token& before, const Token& token) {
  return before.kind != Kind::directive && token.kind != Kind::directive &&
         before.begin + before.text.size() < token.begin;
}

/// `spaced`: with a blank between tokens that are apart.
std::vector<std::string> code_tokens(std::string_view code, bool spaced) {
  const std::vector<Token> tokens = tokens_of(code);
  std::vector<std::string> result;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens[i];
    if (spaced && i > 0 && is_apart(tokens[i - 1], token)) result.emplace_back(" ");
    if (token.kind == Kind::directive) {
      result.push_back(directive_code(token.text));
    } else if (token.kind == Kind::mark) {
      std::size_t marks = 1;
      while (marks < kLongestOperator && i + marks < tokens.size() &&
             tokens[i + marks].kind == Kind::mark &&
             tokens[i + marks].begin == token.begin + marks) {
        ++marks;
      }
      const std::size_t length = operator_length(code.substr(token.begin), marks);
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

/// Line breaks that not every compiler reads alike: \r alone, and behind a backslash with blanks or
/// written as ??/; and NUL.
bool is_ambiguous(std::string_view code) {
  if (code.find('\0') != std::string_view::npos || code.find("?\?/") != std::string_view::npos) {
    return true;
  }
  for (std::size_t at = code.find_first_of("\\\r"); at < code.size();
       at = code.find_first_of("\\\r", at + 1)) {
    const std::size_t next = code.find_first_not_of(" \t\v\f", at + 1);
    if (next == std::string_view::npos) return false;
    if (code[at] == '\r' && code[at + 1] != '\n') return true;
    if (code[at] == '\\' && next > at + 1 && (code[next] == '\n' || code[next] == '\r'))
      return true;
  }
  return false;
}

/// Whether a word asks for its place in the text, or whether there is a header.
bool asks_for_place(std::string_view word) {
  constexpr std::array kWords = {
      std::string_view("__LINE__"),          std::string_view("__FILE__"),
      std::string_view("__FILE_NAME__"),     std::string_view("__BASE_FILE__"),
      std::string_view("__DATE__"),          std::string_view("__TIME__"),
      std::string_view("__TIMESTAMP__"),     std::string_view("__builtin_LINE"),
      std::string_view("__builtin_FILE"),    std::string_view("__builtin_FILE_NAME"),
      std::string_view("__builtin_COLUMN"),  std::string_view("__builtin_source_location"),
      std::string_view("source_location"),   std::string_view("__has_include"),
      std::string_view("__has_include_next")};
  return std::ranges::find(kWords, word) != kWords.end();
}

/// Whether marks are another spelling of others, as ?\?= and %: are.
bool is_another_spelling(const Token& mark, const Token& next) {
  if (next.begin != mark.begin + 1) return false;
  return (mark.text == "?" && next.text == "?") || (mark.text == "%" && next.text == ":");
}

/// Whether every preprocessor ends the token where it ends here. Not those of other characters than
/// ASCII's, of digit separators, which C++11 has not, and of raw strings; a literal is closed.
bool is_plain(const Token& token) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  switch (token.kind) {
    case Kind::word:
      return token.text.find('\'') == std::string_view::npos && !asks_for_place(token.text);
    case Kind::literal:
      return token.text.size() > 1 && token.text.front() == token.text.back() &&
             (token.text.front() == '"' || token.text.front() == '\'');
    default:
      return is_ascii(token.text.front()) && token.text != "\\";
  }
}

/// Whether all tokens are plain, and none of them by another spelling.
bool are_plain(const std::vector<Token>& tokens) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_plain(tokens[i])) return false;
    if (i + 1 < tokens.size() && is_another_spelling(tokens[i], tokens[i + 1])) return false;
  }
  return true;
}

/// Whether the tokens of a directive, and blanks between them, are all that it says: it is known
/// and on one line. What #if 0 disables is on further lines.
bool is_plain_directive(const Token& token) {
  constexpr std::array kKnown = {
      std::string_view("define"), std::string_view("elif"),   std::string_view("else"),
      std::string_view("endif"),  std::string_view("error"),  std::string_view("if"),
      std::string_view("ifdef"),  std::string_view("ifndef"), std::string_view("include"),
      std::string_view("line"),   std::string_view("pragma"), std::string_view("undef")};
  const DirectiveParts directive = parts_of(token.text.substr(1));
  if (token.text.find('\n') != std::string_view::npos ||
      std::ranges::find(kKnown, directive.word) == kKnown.end()) {
    return false;
  }
  if (!header_name(directive).empty()) return true;
  const bool hides_header =
      directive.word == "include" && directive.rest.find('<') != std::string_view::npos;
  return !hides_header && are_plain(tokens_of(directive.rest));
}

/// Whether it makes text, or words of words.
bool makes_text(const Token& directive) {
  return std::ranges::any_of(tokens_of(directive.text.substr(1)),
                             [](const Token& each) { return each.text.starts_with('#'); });
}

std::string hash_of(std::string_view code, bool spaced) {
  const std::vector<std::string> tokens = code_tokens(without_splices(code), spaced);
  return sha256(std::vector<std::string_view>(tokens.begin(), tokens.end()));
}

}  // namespace

std::string code_hash(std::string_view code) {
  return hash_of(code, false);
}

std::string spaced_code_hash(std::string_view code) {
  return hash_of(code, true);
}

Decisive decisive(std::string_view code) {
  if (is_ambiguous(code)) return Decisive::text;
  const std::string joined = without_splices(code);
  std::vector<Token> tokens = tokens_of(joined);
  const auto is_directive = [](const Token& token) { return token.kind == Kind::directive; };
  auto directives = tokens | std::views::filter(is_directive);
  if (!std::ranges::all_of(directives, is_plain_directive)) return Decisive::text;
  const bool any_makes_text = std::ranges::any_of(directives, makes_text);
  std::erase_if(tokens, is_directive);
  if (!are_plain(tokens)) return Decisive::text;
  return any_makes_text ? Decisive::blanks : Decisive::tokens;
}

}  // namespace tuner::source
