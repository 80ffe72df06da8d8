// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/constant_memory.hpp"

#include "tuner/source/token.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace tuner::family {
namespace {

/// The name of the variable whose declaration begins behind a `__constant__`; empty where it has an
/// initial value, or is no declaration of one variable.
std::string_view variable_without_value(const std::vector<source::Token>& tokens,
                                        std::size_t begin) {
  std::string_view name;
  bool is_behind_name = false;
  for (std::size_t i = begin; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == ";") return name;
    if (text == "=" || text == "{" || text == ",") return {};
    if (text == "(" && !is_behind_name) {  // of an alignment
      while (i + 1 < tokens.size() && tokens[i].text != ")") ++i;
    } else if (text == "[") {
      is_behind_name = true;
    } else if (tokens[i].kind == source::Token::Kind::word && !is_behind_name) {
      name = text;
    }
  }
  return {};
}

/// The variables of constant memory that a text declares without a value and mentions again.
std::set<std::string> variables_in_use(std::string_view text) {
  const std::vector<source::Token> tokens = source::tokens_of(text);
  std::set<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != source::Token::Kind::word || tokens[i].text != "__constant__") continue;
    const std::string_view name = variable_without_value(tokens, i + 1);
    if (!name.empty() && std::ranges::count(tokens, name, &source::Token::text) > 1) {
      names.emplace(name);
    }
  }
  return names;
}

/// "weights" of "detail::weights".
std::string unqualified(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

}  // namespace

std::vector<std::string> constant_memory_cautions(const Family& family) {
  std::map<std::string, std::set<std::string>> unwritten;  // by the name of the source
  for (const Kernel& kernel : family.kernels) {
    unwritten.emplace(kernel.source.name, variables_in_use(kernel.source.text));
  }
  for (const Kernel& kernel : family.kernels) {
    for (const SymbolArgument& symbol : kernel.symbols) {
      unwritten[kernel.source.name].erase(unqualified(symbol.name));
    }
  }
  std::vector<std::string> cautions;
  for (const auto& [source, names] : unwritten) {
    for (const std::string& name : names) {
      cautions.push_back(fmt::format(
          "nothing writes the __constant__ variable '{0}' of {1}, so it is zero: add an array to "
          "\"arguments\" with \"symbol\": \"{0}\", or an initial value",
          name, source));
    }
  }
  return cautions;
}

}  // namespace tuner::family
