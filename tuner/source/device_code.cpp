// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/device_code.hpp"

#include "tuner/source/token.hpp"
#include "tuner/source/token_branches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

namespace tuner::source {
namespace {

using Kind = Token::Kind;
using Words = std::set<std::string_view>;

constexpr std::array<std::string_view, 5> kAnnotations = {
    "__global__", "__device__", "__constant__", "__shared__", "__managed__"};
/// Words in front of parentheses that are no name of a function.
constexpr std::array<std::string_view, 9> kSpecifiers = {
    "__launch_bounds__", "__cluster_dims__", "__align__", "alignas",    "__attribute__",
    "__declspec",        "decltype",         "noexcept",  "__maxnreg__"};
constexpr std::array<std::string_view, 4> kClassKeys = {"struct", "class", "union", "enum"};

template <class List>
bool contains(const List& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// A declaration at namespace scope, or a macro.
struct Declaration {
  std::size_t file = 0;
  std::size_t begin = 0, end = 0;  ///< tokens of the file; a macro is its directive
  Words names = {};
  Words mentions = {};
  std::size_t body = 0;  ///< the token that opens a function's; `end` where there is none
  bool is_annotated = false;
  bool is_fixed = false;      ///< is never removed
  bool is_function = false;   ///< with a body
  bool is_prototype = false;  ///< or without
  bool is_type = false;
  bool is_host_call = false;  ///< launches a kernel or calls the CUDA runtime
  bool is_macro = false;
  bool makes_names = false;  ///< a macro that makes words of parts
};

/// Cuts the tokens of one file into declarations.
class Declarations {
 public:
  Declarations(std::size_t file, const std::vector<Token>& tokens)
      : file_(file), tokens_(tokens), behind_partner_(tokens.size()) {
    match_brackets();
  }

  /// None when brackets do not match.
  std::optional<std::vector<Declaration>> read() {
    while (at_ < tokens_.size()) {
      if (is(at_, Kind::directive)) {
        ++at_;
      } else if (is(at_, "}")) {
        if (depth_-- == 0) return std::nullopt;
        ++at_;
      } else if (is(at_, ";")) {
        ++at_;
      } else if (const auto open = scope_begin()) {
        ++depth_;
        at_ = *open + 1;
      } else if (!read_declaration()) {
        return std::nullopt;
      }
    }
    if (depth_ != 0) return std::nullopt;
    for (std::size_t i = 0; i < tokens_.size(); ++i) read_macro(i);
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  [[nodiscard]] bool is(std::size_t i, Kind kind) const {
    return i < tokens_.size() && tokens_[i].kind == kind;
  }

  [[nodiscard]] bool opens_bracket(std::size_t i) const {
    return is(i, "(") || is(i, "[") || is(i, "{");
  }
  [[nodiscard]] bool closes_bracket(std::size_t i) const {
    return is(i, ")") || is(i, "]") || is(i, "}");
  }

  /// The brace that opens a namespace or extern "C" here.
  [[nodiscard]] std::optional<std::size_t> scope_begin() const {
    std::size_t i = is(at_, "inline") ? at_ + 1 : at_;
    if (is(i, "extern") && is(i + 1, Kind::literal) && is(i + 2, "{")) return i + 2;
    if (!is(i, "namespace")) return std::nullopt;
    while (i < tokens_.size() && !is(i, "{") && !is(i, ";") && !is(i, "=")) ++i;
    return is(i, "{") ? std::optional(i) : std::nullopt;
  }

  /// Finds the partners of all brackets at once: looking for each one's alone could take time that
  /// grows with the square of the text's length. A template argument list has no ; and no {.
  void match_brackets() {
    struct Angle {
      std::size_t at, depth;  // brackets around it
    };
    std::vector<std::size_t> brackets;
    std::vector<Angle> angles;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (!is(i, Kind::mark)) continue;
      const char c = tokens_[i].text.front();
      if (c == '(' || c == '[' || c == '{') brackets.push_back(i);
      if ((c == ')' || c == ']' || c == '}') && !brackets.empty()) {
        behind_partner_[brackets.back()] = i + 1;
        brackets.pop_back();
        while (!angles.empty() && angles.back().depth > brackets.size()) angles.pop_back();
      }
      if (c == ';' || c == '{') angles.clear();
      if (c == '<') angles.push_back({i, brackets.size()});
      // In f<(a > b)> the first > compares.
      const bool closes = c == '>' && !angles.empty() && angles.back().depth == brackets.size();
      if (closes && !is(i - 1, "-")) {
        behind_partner_[angles.back().at] = i + 1;
        angles.pop_back();
      }
    }
  }

  /// Behind the bracket that closes the one here; none when none does.
  [[nodiscard]] std::optional<std::size_t> behind_bracket(std::size_t open) const {
    return behind_partner_[open] == 0 ? std::nullopt : std::optional(behind_partner_[open]);
  }

  /// Behind the template argument list here, or only behind the < when it is none.
  [[nodiscard]] std::size_t behind_angles(std::size_t open) const {
    constexpr std::size_t kMost = 512;  // tokens: in longer texts a < is rather a comparison
    const std::size_t behind = behind_partner_[open];
    return behind == 0 || behind - open > kMost ? open + 1 : behind;
  }

  /// The parenthesis that opens the parameters of the operator here.
  [[nodiscard]] std::size_t operator_end(std::size_t i) const {
    if (is(i + 1, "(") && is(i + 2, ")")) return i + 3;
    while (i < tokens_.size() && !is(i, "(") && !is(i, ";")) ++i;
    return i;
  }

  /// Also one that is defined inside of a function.
  void read_macro(std::size_t at) {
    if (!is(at, Kind::directive)) return;
    const auto words = tokens_of(tokens_[at].text.substr(1));
    if (words.size() < 2 || words[0].text != "define") return;
    Declaration macro{.file = file_, .begin = at, .end = at + 1, .is_macro = true};
    macro.names.insert(words[1].text);
    macro.makes_names = tokens_[at].text.find("##") != std::string_view::npos;
    for (const Token& word : words) {
      if (word.kind == Kind::word) macro.mentions.insert(word.text);
    }
    found_.push_back(std::move(macro));
  }

  bool read_declaration() {
    Declaration made{.file = file_, .begin = at_};
    std::size_t i = at_;
    while (is(i, "template") && is(i + 1, "<")) i = behind_angles(i + 1);
    const std::size_t head = i;
    const bool is_type = contains(kClassKeys, text_of(first_word(head))) || is(head, "typedef");
    bool has_parameters = false, has_value = false;
    for (; i < tokens_.size() && !is(i, ";"); ++i) {
      if (is(i, "operator")) i = operator_end(i);
      if (is(i, "=")) has_value = true;
      if (is(i, "<") && !has_value) i = behind_angles(i) - 1;
      if (closes_bracket(i)) return false;
      if (!opens_bracket(i)) continue;
      const bool is_body = is(i, "{") && has_parameters && !has_value && !is_type;
      has_parameters = has_parameters || (is(i, "(") && !is_specifier(i - 1));
      const auto behind = behind_bracket(i);
      if (!behind) return false;
      if (is_body) made.body = i;
      i = *behind - 1;
      if (!is_body || is(i + 1, ",") || is(i + 1, "{")) continue;
      made.is_function = true;
      break;
    }
    made.end = std::min(i + 1, tokens_.size());
    if (!made.is_function) made.body = made.end;
    made.is_type = is_type;
    made.is_prototype = has_parameters && !has_value && !is_type && !made.is_function;
    describe(made, head, is_type);
    at_ = made.end;
    found_.push_back(std::move(made));
    return true;
  }

  [[nodiscard]] std::string_view text_of(std::size_t i) const {
    return i < tokens_.size() ? tokens_[i].text : std::string_view();
  }
  [[nodiscard]] bool is_specifier(std::size_t i) const { return contains(kSpecifiers, text_of(i)); }
  /// Past what may stand before a type.
  [[nodiscard]] std::size_t first_word(std::size_t i) const {
    while (is(i, "static") || is(i, "const") || is(i, "constexpr") || is(i, "inline")) ++i;
    return i;
  }

  void describe(Declaration& made, std::size_t head, bool is_type) const {
    std::size_t launch = 0;  // the < of a <<< so far
    for (std::size_t i = made.begin; i < made.end; ++i) {
      launch = is(i, "<") ? launch + 1 : 0;
      if (launch == 3) made.is_host_call = true;
      if (!is(i, Kind::word)) continue;
      const std::string_view word = tokens_[i].text;
      made.mentions.insert(word);
      if (is_runtime_call(word) && is(i + 1, "(")) made.is_host_call = true;
    }
    const std::string_view first = text_of(first_word(head));
    made.is_fixed = first == "static_assert" || first == "enum" ||
                    (first == "using" && is(head + 1, "namespace")) || first == "asm" ||
                    (first == "typedef" && is(head + 1, "enum"));
    if (is_type || first == "using" || first == "namespace") add_type_names(made, head);
    if (!is_type) add_names(made, head);
  }

  /// cudaMalloc, but no type such as cudaStream_t.
  static bool is_runtime_call(std::string_view word) {
    constexpr std::string_view kPrefix = "cuda";
    return word.starts_with(kPrefix) && word.size() > kPrefix.size() &&
           std::isupper(static_cast<unsigned char>(word[kPrefix.size()])) != 0 &&
           !word.ends_with("_t");
  }

  static void add_word(Declaration& made, const Token& token) {
    if (token.kind == Kind::word) made.names.insert(token.text);
  }

  /// The last word of a class's head, and what a typedef ends with.
  void add_type_names(Declaration& made, std::size_t head) const {
    for (std::size_t i = head; i < made.end; ++i) {
      if (is_specifier(i) && is(i + 1, "(")) i = behind_bracket(i + 1).value_or(i + 1);
      if (is(i, "{") || is(i, ":") || is(i, "=") || is(i, ";") || is(i, "<")) {
        if (i > head) add_word(made, tokens_[i - 1]);
        break;
      }
    }
    if (made.end >= 2) add_word(made, tokens_[made.end - 2]);
  }

  /// What is declared: the word before a parameter list, a value, an extent, a comma or the end.
  void add_names(Declaration& made, std::size_t head) const {
    bool has_parameters = false;
    for (std::size_t i = head; i < made.end; i = behind_part(i, made.end)) {
      if (is(i, "operator")) {
        made.is_fixed = !made.is_host_call && !made.mentions.contains("std");
        return;
      }
      if (i == head) continue;
      if (is(i, "<") && is(behind_angles(i), "(")) add_word(made, tokens_[i - 1]);
      if (!ends_name(i) || is_specifier(i - 1)) {
        if (is_initializer_list(i)) return;
        continue;
      }
      // Behind parentheses only the name before others is one: the first may be a macro's.
      if (!has_parameters || is(i, "(")) add_word(made, tokens_[i - 1]);
      has_parameters = has_parameters || is(i, "(");
      if (is(i, "{")) return;
    }
  }
  [[nodiscard]] bool is_initializer_list(std::size_t i) const {
    return is(i, ":") && !is(i - 1, ":") && !is(i + 1, ":");
  }
  [[nodiscard]] bool ends_name(std::size_t i) const {
    return opens_bracket(i) || is(i, "=") || is(i, ",") || is(i, ";");
  }
  /// Behind the parameters, extent, template arguments or value here, or else behind the token.
  [[nodiscard]] std::size_t behind_part(std::size_t i, std::size_t end) const {
    if (is(i, "<")) return behind_angles(i);
    if (is(i, "(") || is(i, "[")) return behind_bracket(i).value_or(i + 1);
    const bool is_value = is(i, "=");
    ++i;
    while (is_value && i < end && !is(i, ",") && !is(i, ";")) {
      i = opens_bracket(i) ? behind_bracket(i).value_or(i + 1) : i + 1;
    }
    return i;
  }

  std::size_t file_;
  const std::vector<Token>& tokens_;
  std::vector<std::size_t> behind_partner_;  // 0 where a token has none
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<Declaration> found_;
};

/// All declarations of one file, by its tokens. Where braces match only in one branch of each #if,
/// these are read, and the others by themselves where their braces match.
class FileDeclarations {
 public:
  FileDeclarations(std::size_t file, const std::vector<Token>& tokens)
      : file_(file), tokens_(tokens) {}

  /// None when braces match in no choice of branches.
  std::optional<std::vector<Declaration>> read() {
    if (auto all = Declarations(file_, tokens_).read()) return all;
    for (const BranchChoice choice : {BranchChoice::first, BranchChoice::last}) {
      const std::vector<bool> taken = taken_tokens(tokens_, choice);
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < tokens_.size(); ++i) {
        if (taken[i]) places.push_back(i);
      }
      if (!read(places)) continue;
      add_other_branches(taken);
      return std::move(found_);
    }
    return std::nullopt;
  }

 private:
  /// Adds the declarations of the tokens at these places; false when their braces do not match.
  bool read(const std::vector<std::size_t>& places) {
    std::vector<Token> some;
    for (const std::size_t place : places) some.push_back(tokens_[place]);
    auto read = Declarations(file_, some).read();
    if (!read) return false;
    for (Declaration& each : *read) {
      each.body = each.body < places.size() ? places[each.body] : places.back() + 1;
      each.begin = places[each.begin];
      each.end = places[each.end - 1] + 1;
      found_.push_back(std::move(each));
    }
    return true;
  }

  void add_other_branches(const std::vector<bool>& taken) {
    const std::vector<Declaration> outer = found_;
    auto around = outer.begin();
    for (std::size_t begin = 0; begin < tokens_.size();) {
      std::vector<std::size_t> places;
      std::size_t end = begin;
      for (; end < tokens_.size() && !taken[end]; ++end) places.push_back(end);
      while (around != outer.end() && around->end <= begin) ++around;
      const bool is_inside = around != outer.end() && around->begin < begin;
      if (!places.empty() && (is_inside || !read(places))) {
        add_mentions(places, is_inside ? found_[static_cast<std::size_t>(around - outer.begin())]
                                       : unread());
      }
      begin = end + 1;
    }
  }

  /// What no declaration can be told from: kept with all that it mentions.
  Declaration& unread() {
    found_.push_back({.file = file_, .is_fixed = true});
    return found_.back();
  }

  void add_mentions(const std::vector<std::size_t>& places, Declaration& declaration) const {
    for (const std::size_t place : places) {
      if (tokens_[place].kind == Kind::word) declaration.mentions.insert(tokens_[place].text);
    }
  }

  std::size_t file_;
  const std::vector<Token>& tokens_;
  std::vector<Declaration> found_;
};

/// The annotations, and the macros that expand to one, directly or through others.
Words annotations(const std::vector<Declaration>& all) {
  std::multimap<std::string_view, std::string_view> macros_by_mention;
  for (const Declaration& macro : all) {
    if (!macro.is_macro) continue;
    for (const std::string_view word : macro.mentions) {
      macros_by_mention.emplace(word, *macro.names.begin());
    }
  }
  Words words(kAnnotations.begin(), kAnnotations.end());
  std::vector<std::string_view> open(kAnnotations.begin(), kAnnotations.end());
  while (!open.empty()) {
    const auto [first, last] = macros_by_mention.equal_range(open.back());
    open.pop_back();
    for (auto it = first; it != last; ++it) {
      if (words.insert(it->second).second) open.push_back(it->second);
    }
  }
  return words;
}

/// Whether a declaration is a function or a type for the device, which something must name to use.
bool is_named_to_be_used(const Declaration& it) {
  constexpr std::array<std::string_view, 5> kImplied = {"begin", "end", "get", "size", "swap"};
  const auto is_implied = [&](std::string_view name) { return contains(kImplied, name); };
  return it.is_annotated && (it.is_function || it.is_prototype || it.is_type) &&
         !it.names.empty() && std::ranges::none_of(it.names, is_implied);
}

/// Which declarations the device can reach from the fixed ones, variables for the device, and the
/// roots; and from functions and types for the device that nothing must name.
std::vector<bool> reached(const std::vector<Declaration>& all, const Words& roots,
                          bool (*must_be_named)(const Declaration&)) {
  std::multimap<std::string_view, std::size_t> by_name;
  std::vector<bool> is_reached(all.size());
  Words mentioned = roots;
  std::vector<std::string_view> open(roots.begin(), roots.end());
  const auto reach = [&](std::size_t i) {
    if (is_reached[i]) return;
    is_reached[i] = true;
    for (const std::string_view word : all[i].mentions) {
      if (mentioned.insert(word).second) open.push_back(word);
    }
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string_view name : all[i].names) by_name.emplace(name, i);
    if (all[i].is_fixed || (all[i].is_annotated && !must_be_named(all[i]))) reach(i);
  }
  while (!open.empty()) {
    const auto [first, last] = by_name.equal_range(open.back());
    open.pop_back();
    for (auto it = first; it != last; ++it) {
      const Declaration& named = all[it->second];
      if (!named.is_host_call || !named.is_function || named.is_annotated) reach(it->second);
    }
  }
  return is_reached;
}

/// Fixes functions for the device that only macros name: what these make of the names cannot be
/// told.
void fix_made_by_macros(std::vector<Declaration>& all) {
  Words macros;
  for (const Declaration& it : all) {
    if (it.is_macro) macros.insert(it.names.begin(), it.names.end());
  }
  const auto is_macro = [&](std::string_view name) { return macros.contains(name); };
  for (Declaration& it : all) {
    if (it.is_annotated && std::ranges::all_of(it.names, is_macro)) it.is_fixed = true;
  }
}

/// Blanks a declaration but for line breaks and directives.
void blank(std::string& text, std::span<const Token> declaration) {
  std::size_t at = declaration.front().begin;
  const auto blank_up_to = [&](std::size_t end) {
    for (; at < end; ++at) {
      if (text[at] != '\n') text[at] = ' ';
    }
  };
  for (const Token& token : declaration) {
    if (token.kind == Kind::directive) {
      blank_up_to(token.begin);
      at = token.begin + token.text.size();
    }
  }
  blank_up_to(std::max(at, declaration.back().begin + declaration.back().text.size()));
}

/// Whether the names in use tell what is needed: they name a function for the device, and no macro
/// in use makes names of parts.
bool is_told_by_names(const std::vector<Declaration>& all, const std::vector<bool>& is_reached) {
  bool reaches_function = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_reached[i]) continue;
    if (all[i].makes_names) return false;
    reaches_function = reaches_function || (all[i].is_annotated && all[i].is_function);
  }
  return reaches_function;
}

/// The declarations of a source and its headers; none where braces do not match.
std::optional<std::vector<Declaration>> declarations(std::span<const std::vector<Token>> tokens) {
  std::vector<Declaration> all;
  for (std::size_t file = 0; file < tokens.size(); ++file) {
    auto found = FileDeclarations(file, tokens[file]).read();
    if (!found) return std::nullopt;
    all.insert(all.end(), found->begin(), found->end());
  }
  const Words annotating = annotations(all);
  for (Declaration& it : all) {
    const auto annotates = [&](const Token& token) {
      return token.kind == Kind::word && annotating.contains(token.text);
    };
    // In the body of a host function a lambda may have an annotation.
    const std::size_t end = std::max(it.begin, std::min(it.body, it.end));
    const std::span head = std::span(tokens[it.file]).subspan(it.begin, end - it.begin);
    it.is_annotated = !it.is_macro && std::ranges::any_of(head, annotates);
  }
  fix_made_by_macros(all);
  return all;
}

std::vector<std::string_view> texts_of(const KernelSource& source) {
  std::vector<std::string_view> texts = {source.text};
  for (const Header& header : source.headers) texts.push_back(header.text);
  return texts;
}

/// The name of the function that an entry such as "detail::scale<4>" names; empty where a root is
/// an option of the compiler.
std::string_view function_of(std::string_view root) {
  std::string_view name;
  if (root.starts_with('-')) return name;
  for (const Token& token : tokens_of(root)) {
    if (token.text == "<") break;
    if (token.kind == Kind::word) name = token.text;
  }
  return name;
}

/// Whether every entry among the roots is declared.
bool are_declared(std::span<const std::string> roots, const std::vector<Declaration>& all) {
  return std::ranges::all_of(roots, [&](const std::string& root) {
    const std::string_view name = function_of(root);
    return name.empty() || std::ranges::any_of(all, [&](const Declaration& each) {
             return each.names.contains(name);
           });
  });
}

}  // namespace

KernelSource device_code(const KernelSource& source, std::span<const std::string> roots) {
  const std::vector<std::string_view> texts = texts_of(source);
  std::vector<std::vector<Token>> tokens;
  for (const std::string_view text : texts) tokens.push_back(tokens_of(text));
  const auto all = declarations(tokens);
  if (!all) return source;
  Words root_words;
  for (const std::string& root : roots) {
    for (const Token& token : tokens_of(root)) root_words.insert(token.text);
  }
  std::vector<bool> is_reached = reached(*all, root_words, &is_named_to_be_used);
  // The compiler's message about an entry that is missing names the kernels that are there.
  if (!are_declared(roots, *all) || !is_told_by_names(*all, is_reached)) {
    is_reached = reached(*all, root_words, [](const Declaration&) { return false; });
  }
  const auto is_dropped = [&](std::size_t i) { return !is_reached[i] && !(*all)[i].is_macro; };
  bool drops_function = false;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Declaration& it = (*all)[i];
    drops_function = drops_function || (is_dropped(i) && (it.is_function || it.is_prototype));
  }
  if (!drops_function) return source;
  KernelSource result = source;
  for (std::size_t i = 0; i < all->size(); ++i) {
    const Declaration& it = (*all)[i];
    if (!is_dropped(i)) continue;
    std::string& text = it.file == 0 ? result.text : result.headers[it.file - 1].text;
    const std::span file(tokens[it.file]);
    blank(text, file.subspan(it.begin, it.end - it.begin));
  }
  return result;
}

std::string host_code_hint(const KernelSource& source) {
  const std::vector<std::string_view> texts = texts_of(source);
  for (std::size_t file = 0; file < texts.size(); ++file) {
    const std::vector<Token> tokens = tokens_of(texts[file]);
    if (FileDeclarations(file, tokens).read()) continue;
    return fmt::format(
        "\nhint: host code was not removed, because in {} braces match in no choice of branches of "
        "#if: move the kernel to a file of its own, or complete the braces in each branch",
        file == 0 ? source.name : source.headers[file - 1].name);
  }
  return {};
}

}  // namespace tuner::source
