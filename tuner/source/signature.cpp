// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/signature.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace tuner::source {

bool has_text(const Token& token, std::string_view text) {
  return token.text == text;
}

bool is_in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::string entry_function(std::string_view entry) {
  const std::size_t end = std::min(entry.find('<'), entry.size());
  int depth = 0;
  for (std::size_t i = end; i < entry.size(); ++i) {
    if (entry[i] == '<') ++depth;
    if (entry[i] == '>' && --depth == 0 && i + 1 < entry.size()) return "";
  }
  std::string_view path = entry.substr(0, end);
  const auto belongs = [](char c) { return (is_in_word(c) && c != '$') || c == ':'; };
  if (!std::ranges::all_of(path, belongs)) return "";
  if (const std::size_t colon = path.rfind(':'); colon != std::string_view::npos) {
    if (path.starts_with("cub::") || path.starts_with("std::")) return "";
    path.remove_prefix(colon + 1);
  }
  return std::string(path);
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && after == end ? std::optional(value) : std::nullopt;
}

namespace {

using Kind = Token::Kind;

/// The position behind the bracket that closes the one at `open`. Within parentheses < and >
/// compare.
std::size_t behind_bracket(Tokens tokens, std::size_t open) {
  const std::string_view opening = tokens[open].text;
  const std::string_view closing = opening == "(" ? ")" : opening == "<" ? ">" : "}";
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (opening == "<" && has_text(tokens[i], "(")) {
      i = behind_bracket(tokens, i) - 1;
      continue;
    }
    if (has_text(tokens[i], opening)) ++depth;
    if (has_text(tokens[i], closing) && --depth == 0) return i + 1;
  }
  return tokens.size();
}

/// The parts of a list between brackets, without default values.
std::vector<Tokens> parts(Tokens tokens) {
  std::vector<Tokens> all;
  int depth = 0;
  std::size_t begin = 0, end = 0;
  bool is_default = false;
  for (std::size_t i = 0; i <= tokens.size(); ++i) {
    if (i == tokens.size() || (depth == 0 && has_text(tokens[i], ","))) {
      if (end > begin) all.push_back(tokens.subspan(begin, end - begin));
      begin = end = i + 1;
      is_default = false;
      continue;
    }
    if (has_text(tokens[i], "(")) {
      i = behind_bracket(tokens, i) - 1;
      continue;
    }
    if (has_text(tokens[i], "<")) ++depth;
    if (has_text(tokens[i], ">")) --depth;
    if (depth == 0 && has_text(tokens[i], "=")) is_default = true;
    if (!is_default) end = i + 1;
  }
  return all;
}

Declared declared(Tokens tokens) {
  constexpr std::array<std::string_view, 6> kQualifiers = {
      "__restrict__", "__restrict", "restrict", "volatile", "__grid_constant__", "std"};
  Declared found;
  for (const Token& token : tokens) {
    if (has_text(token, "*")) ++found.pointers;
    if (has_text(token, "const")) found.is_const = found.is_const || found.pointers == 0;
    if (has_text(token, "[")) ++found.pointers;
    if (has_text(token, "(")) found.to_arrays = true;
    if (token.kind != Kind::word || has_text(token, "const") ||
        std::ranges::find(kQualifiers, token.text) != kQualifiers.end()) {
      continue;
    }
    if (std::isdigit(static_cast<unsigned char>(token.text[0])) == 0) {
      found.type.emplace_back(token.text);
    }
  }
  if (found.type.size() > 1) {
    found.name = found.type.back();
    found.type.pop_back();
  }
  return found;
}

/// What the braces behind a parameter list hold; nothing for a declaration alone.
Tokens body_at(Tokens tokens, std::size_t behind_parameters) {
  if (behind_parameters >= tokens.size() || !has_text(tokens[behind_parameters], "{")) return {};
  const std::size_t end = behind_bracket(tokens, behind_parameters);
  return tokens.subspan(behind_parameters, end - behind_parameters);
}

/// How many axes of the grid a body reads.
std::size_t grid_axes(Tokens body) {
  std::size_t axes = 1;
  for (std::size_t i = 0; i + 2 < body.size(); ++i) {
    if (!has_text(body[i], "blockIdx")) continue;
    if (has_text(body[i + 2], "y")) axes = std::max<std::size_t>(axes, 2);
    if (has_text(body[i + 2], "z")) axes = 3;
  }
  return axes;
}

/// The type of the first array that is declared extern __shared__, with or without __align__.
std::vector<std::string> dynamic_shared(Tokens body) {
  for (std::size_t i = 0; i + 1 < body.size(); ++i) {
    if (!has_text(body[i], "extern") || !has_text(body[i + 1], "__shared__")) continue;
    std::vector<std::string> words;
    for (i += 2; i < body.size() && !has_text(body[i], "[") && !has_text(body[i], ";"); ++i) {
      if (has_text(body[i], "(")) {
        if (!words.empty()) words.pop_back();  // the attribute
        i = behind_bracket(body, i) - 1;
      } else if (body[i].kind == Kind::word) {
        words.emplace_back(body[i].text);
      }
    }
    if (words.size() > 1) words.pop_back();  // the name
    return words;
  }
  return {};
}

/// The named namespaces that are open at a kernel, each with "::" behind it.
std::string qualifier(Tokens tokens, const KernelPlace& place) {
  std::vector<std::string> open;  // of each brace; empty for other braces
  std::string next;
  for (std::size_t i = 0; i < place.global; ++i) {
    if (has_text(tokens[i], "namespace")) {
      for (++i; i < place.global && !has_text(tokens[i], "{") && !has_text(tokens[i], ";"); ++i) {
        if (tokens[i].kind == Kind::word) next += fmt::format("{}::", tokens[i].text);
      }
    }
    if (i < place.global && has_text(tokens[i], "{")) open.push_back(next);
    if (i < place.global && has_text(tokens[i], "}") && !open.empty()) open.pop_back();
    next.clear();
  }
  return fmt::format("{}", fmt::join(open, ""));
}

/// What stands in no declaration between __global__ and the kernel's name.
bool ends_declaration(const Token& token) {
  constexpr std::array<std::string_view, 5> kEnds = {"__global__", ")", ";", "{", "}"};
  return std::ranges::find(kEnds, token.text) != kEnds.end();
}

/// The token before words as `static` and attributes as `__launch_bounds__(256)`, which stand
/// before `end`.
std::size_t before_attributes(Tokens tokens, std::size_t end) {
  while (end > 0) {
    if (tokens[end - 1].kind == Kind::word) {
      --end;
      continue;
    }
    if (!has_text(tokens[end - 1], ")")) break;
    std::size_t open = end - 1;
    for (int depth = 1; depth > 0 && open > 0;) {
      --open;
      depth += has_text(tokens[open], ")") ? 1 : has_text(tokens[open], "(") ? -1 : 0;
    }
    if (open == 0 || tokens[open - 1].kind != Kind::word) break;
    end = open;
  }
  return end;
}

/// The least of the bounds that attributes between the place's tokens state.
int most_threads(Tokens tokens, const KernelPlace& place) {
  int most = kMostThreads;
  for (std::size_t i = before_attributes(tokens, place.global); i + 2 < place.parameters; ++i) {
    if (!has_text(tokens[i + 1], "(")) continue;
    const int bound = number(tokens[i + 2].text).value_or(0);
    if (has_text(tokens[i], "__launch_bounds__") && bound >= 32) most = std::min(bound, most);
    i = behind_bracket(tokens, i + 1) - 1;
  }
  return most;
}

/// The word that __launch_bounds__ has alone in the place of the threads; empty without one.
std::string bound_of(Tokens tokens, const KernelPlace& place) {
  for (std::size_t i = before_attributes(tokens, place.global); i + 3 < place.parameters; ++i) {
    const bool is_alone = has_text(tokens[i + 3], ")") || has_text(tokens[i + 3], ",");
    if (has_text(tokens[i], "__launch_bounds__") && tokens[i + 2].kind == Kind::word && is_alone &&
        !number(tokens[i + 2].text)) {
      return std::string(tokens[i + 2].text);
    }
  }
  return "";
}

/// The parameters of the template before a kernel, with nothing between but words and attributes.
std::vector<Declared> template_parameters(Tokens tokens, std::size_t global) {
  std::vector<Declared> found;
  const std::size_t before = before_attributes(tokens, global);
  if (before == 0 || !has_text(tokens[before - 1], ">")) return found;
  for (std::size_t open = before - 1; open-- > 1;) {
    if (!has_text(tokens[open], "<") || !has_text(tokens[open - 1], "template")) continue;
    if (behind_bracket(tokens, open) != before) break;
    for (const Tokens part : parts(tokens.subspan(open + 1, before - open - 2))) {
      found.push_back(declared(part));
    }
    break;
  }
  return found;
}

}  // namespace

DeclaredKernels::DeclaredKernels(Tokens tokens) : tokens_(tokens), behind_(tokens.size()) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (has_text(tokens[i], "(")) open.push_back(i);
    if (!has_text(tokens[i], ")") || open.empty()) continue;
    behind_[open.back()] = i + 1;
    open.pop_back();
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (has_text(tokens[i], "__global__")) find(i);
  }
}

void DeclaredKernels::find(std::size_t global) {
  std::size_t i = global + 1;
  for (; i + 1 < tokens_.size() && !ends_declaration(tokens_[i]); ++i) {
    if (!has_text(tokens_[i + 1], "(")) continue;
    if (!tokens_[i].text.starts_with("__")) break;  // an attribute such as __launch_bounds__(256)
    if (behind_[i + 1] == 0) return;
    i = behind_[i + 1] - 1;
  }
  if (i + 1 >= tokens_.size() || tokens_[i].kind != Kind::word || behind_[i + 1] == 0) return;
  std::string name(tokens_[i].text);
  std::vector<KernelPlace>& places = places_[name];
  places.push_back({global, i + 1});
  if (places.size() == 1) names_.push_back(std::move(name));
}

std::vector<Tokens> kernel_parameters(Tokens tokens, const KernelPlace& place) {
  const std::size_t open = place.parameters;
  const std::size_t end = behind_bracket(tokens, open);
  std::vector<Tokens> all = parts(tokens.subspan(open + 1, end - open - 2));
  std::erase_if(all, [](Tokens part) { return part.size() == 1 && has_text(part[0], "void"); });
  return all;
}

Signature signature_at(Tokens tokens, const KernelPlace& place) {
  Signature found;
  found.name = tokens[place.parameters - 1].text;
  found.qualifier = qualifier(tokens, place);
  found.of_template = template_parameters(tokens, place.global);
  found.most_threads = most_threads(tokens, place);
  found.bound = bound_of(tokens, place);
  for (const Tokens part : kernel_parameters(tokens, place)) {
    found.parameters.push_back(declared(part));
  }
  const Tokens body = body_at(tokens, behind_bracket(tokens, place.parameters));
  found.grid_axes = grid_axes(body);
  found.dynamic_shared = dynamic_shared(body);
  return found;
}

}  // namespace tuner::source
