// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/include.hpp"

#include "tuner/core/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace tuner::source {
namespace {

// Longer ones are refused: they would make reading a hostile file take long.
constexpr std::size_t kLongestName = 256;
constexpr std::size_t kLongestComment = 256;

/// A place in a text, in front of which line continuations vanish as they do for a compiler.
class Cursor {
 public:
  Cursor(std::string_view text, std::size_t at) : text_(text), at_(at) { skip_continuations(); }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\n' : text_[at_]; }
  [[nodiscard]] bool at_line_end() const { return peek() == '\n' || peek() == '\r'; }
  [[nodiscard]] std::size_t position() const { return at_; }

  char take() {
    const char c = peek();
    ++at_;
    skip_continuations();
    return c;
  }

  bool take(std::string_view expected) {
    Cursor ahead = *this;
    for (const char c : expected) {
      if (ahead.at_end() || ahead.take() != c) return false;
    }
    *this = ahead;
    return true;
  }

  /// False when a comment goes on past the end of the line, or very far.
  bool skip_blanks() {
    for (;;) {
      const std::size_t comment = at_;
      if (take("/*")) {
        while (!take("*/")) {
          if (at_line_end() || at_ > comment + kLongestComment) return false;
          take();
        }
      } else if (is_blank(peek()) && !at_end()) {
        take();
      } else {
        return true;
      }
    }
  }

  std::string word() {
    std::string result;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_') result += take();
    return result;
  }

 private:
  /// A compiler takes a NUL for a blank too.
  static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\0';
  }

  void skip_continuations() {
    while (at_ < text_.size() && text_[at_] == '\\') {
      const std::size_t end = text_.find_first_not_of(" \t\v\f\r", at_ + 1);
      if (end == std::string_view::npos || text_[end] != '\n') return;
      at_ = end + 1;
    }
  }

  std::string_view text_;
  std::size_t at_;
};

/// Reads "name" or <name>.
Include operand(Cursor& cursor) {
  Include result;
  if (!cursor.skip_blanks()) return result;
  const char open = cursor.peek();
  if (open != '"' && open != '<') return result;
  cursor.take();
  result.at = cursor.position();
  const char close = open == '"' ? '"' : '>';
  while (cursor.peek() != close) {
    if (cursor.at_line_end() || result.name.size() == kLongestName) return result;
    result.name += cursor.take();
  }
  result.end = cursor.position();
  result.form = open == '"' ? Include::Form::quoted : Include::Form::angled;
  return result;
}

void find_problem(Include& include, std::string_view directive) {
  if (include.form == Include::Form::none) {
    include.problem =
        fmt::format("{} must name its file as \"name\" or <name>, not by a macro", directive);
    return;
  }
  const std::filesystem::path path(include.name);
  const bool is_absolute = path.is_absolute();
  include.has_parent = !is_absolute && std::find(path.begin(), path.end(), "..") != path.end();
  if (!is_absolute && !include.has_parent) return;
  include.problem = fmt::format(
      "the include {} {}: a kernel may include only files in its own folder or below, and in "
      "folders that \"include\" of the space file lists",
      in_quotes(include.name),
      is_absolute ? "is an absolute path" : "contains \"..\" and is in no folder of the kernel");
}

/// A directive that begins behind the blanks of a line.
struct Directive {
  std::size_t at = 0, end = 0;  ///< its word in the text
  std::string word;
  Cursor rest;            ///< behind the word
  bool is_whole = false;  ///< whether no comment before the word continues on the next line
};

std::optional<Directive> directive_at(Cursor cursor) {
  if (!cursor.take("#") && !cursor.take("%:") && !cursor.take("?\?=")) return std::nullopt;
  if (!cursor.skip_blanks()) return Directive{.word = {}, .rest = cursor};
  const std::size_t at = cursor.position();
  std::string word = cursor.word();
  return Directive{.at = at,
                   .end = cursor.position(),
                   .word = std::move(word),
                   .rest = cursor,
                   .is_whole = true};
}

/// None for a directive that names no file.
std::optional<Include> include_of(const Directive& directive) {
  Include result;
  if (!directive.is_whole) {
    result.problem = "a directive contains a comment that continues on the next line";
    return result;
  }
  constexpr std::array<std::string_view, 3> kRefused = {"include_next", "import", "embed"};
  if (std::ranges::find(kRefused, directive.word) != kRefused.end()) {
    result.problem = fmt::format("a kernel may not use #{}, only #include", directive.word);
  } else if (directive.word == "include") {
    Cursor rest = directive.rest;
    result = operand(rest);
    find_problem(result, "#include");
  } else {
    return std::nullopt;
  }
  result.word_at = directive.at;
  result.word_end = directive.end;
  return result;
}

/// The branches of #if around a place in a text.
class Branches {
 public:
  void read(const Directive& directive) {
    const std::string& word = directive.word;
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      levels_.push_back(Level::branch);
      ++branches_;
      guard_ = word == "ifdef" ? std::string() : guard_of(directive);
      return;
    }
    if (word == "define" && !guard_.empty() && first_word(directive.rest) == guard_) {
      levels_.back() = Level::guard;
      --branches_;
    }
    guard_.clear();
    if (levels_.empty()) return;
    if (word.starts_with("el")) make_branch();
    if (word == "endif") {
      if (levels_.back() == Level::branch) --branches_;
      levels_.pop_back();
    }
  }

  [[nodiscard]] bool is_inside() const { return branches_ > 0; }

 private:
  enum class Level { guard, branch };

  void make_branch() {
    if (levels_.back() == Level::guard) ++branches_;
    levels_.back() = Level::branch;
  }

  static std::string first_word(Cursor cursor) {
    return cursor.skip_blanks() ? cursor.word() : std::string();
  }

  /// X of `#ifndef X` and `#if !defined(X)`, which guards a header where it is defined next.
  static std::string guard_of(const Directive& directive) {
    if (directive.word == "ifndef") return first_word(directive.rest);
    Cursor rest = directive.rest;
    if (!rest.skip_blanks() || !rest.take("!")) return {};
    if (!rest.skip_blanks() || rest.word() != "defined") return {};
    if (!rest.skip_blanks()) return {};
    rest.take("(");
    return first_word(rest);
  }

  std::vector<Level> levels_;
  std::size_t branches_ = 0;
  std::string guard_;  // what the next directive may define
};

/// A question whether there is a file; not that about the word itself, as in
/// defined(__has_include).
std::optional<Include> question(Cursor cursor) {
  constexpr std::string_view kWord = "__has_include", kRest = "_next";
  if (!cursor.take(kWord)) return std::nullopt;
  const bool is_next = cursor.take(kRest);
  if (!cursor.skip_blanks() || !cursor.take("(")) return std::nullopt;
  Include result = operand(cursor);
  find_problem(result, fmt::format("{}{}", kWord, is_next ? kRest : ""));
  return result;
}

/// What stands between two texts in a line of a message; empty when they do not.
std::string_view between(std::string_view message, std::string_view before,
                         std::string_view behind) {
  while (!message.empty()) {
    std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    for (std::size_t at = line.find(before); at != std::string_view::npos; at = line.find(before)) {
      line.remove_prefix(at + before.size());
      const std::size_t end = line.find(behind);
      if (end == std::string_view::npos) break;  // nor does it stand behind a later `before`
      if (end > 0) return line.substr(0, end);
    }
  }
  return {};
}

}  // namespace

std::vector<Include> includes(std::string_view text) {
  std::vector<Include> result;
  Branches branches;
  std::size_t line = 1;
  const auto add = [&](std::optional<Include> found) {
    if (!found) return;
    found->line = line;
    found->is_conditional = branches.is_inside();
    result.push_back(*std::move(found));
  };
  std::size_t looked_up_to = 0;
  const auto look = [&](std::size_t at) {
    if (at < looked_up_to) return;
    Cursor cursor(text, at);
    const bool whole = cursor.skip_blanks();
    looked_up_to = cursor.position();
    if (!whole) return;
    const auto directive = directive_at(cursor);
    if (!directive) return;
    branches.read(*directive);
    add(include_of(*directive));
  };
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  look(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (c == '\n' || c == '\r') look(at + 1);
    if (c == '*') {  // a comment may end before a directive
      Cursor behind(text, at);
      if (behind.take("*/")) look(behind.position());
    }
    if (c == '_') {
      auto asked = question(Cursor(text, at));
      if (asked && !asked->problem.empty()) add(std::move(asked));
    }
  }
  return result;
}

std::optional<std::string> include_problem(const KernelSource& source) {
  const auto first = [](std::string_view file,
                        std::string_view text) -> std::optional<std::string> {
    for (const Include& include : includes(text)) {
      if (!include.problem.empty()) {
        return fmt::format("{}:{}: {}", file, include.line, include.problem);
      }
    }
    return std::nullopt;
  };
  if (auto problem = first(source.name, source.text)) return problem;
  for (const Header& header : source.headers) {
    if (auto problem = first(header.name, header.text)) return problem;
  }
  return std::nullopt;
}

std::string missing_header_hint(std::string_view message) {
  std::string_view name = between(message, "fatal error: ", ": No such file");
  if (name.empty()) name = between(message, "cannot open source file \"", "\"");
  if (name.empty()) name = between(message, "could not open source file \"", "\"");
  if (name.empty()) return "";
  return fmt::format(
      "\nhint: the header {} was found neither among those of the CUDA Toolkit that this backend "
      "has, nor in the kernel's folder, nor in a folder that \"include\" of the space file lists",
      name);
}

}  // namespace tuner::source
