// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table_header.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tuner::cli {
namespace {

constexpr std::size_t kMostBytesOfALiteral = 80;

/// A character inside a literal. Octal escapes end after three digits, whatever follows them.
std::string escaped(char c) {
  if (c == '"' || c == '\\') return {'\\', c};
  if (c == '\n') return "\\n";
  if (c == '?') return "\\?";  // two of them would begin a trigraph
  if (c >= ' ' && c <= '~') return {c};
  return fmt::format("\\{:03o}", static_cast<unsigned char>(c));
}

/// The document as literals, one a line, that end where its own lines do or when they are long.
std::string literals(std::string_view document) {
  std::string text;
  std::size_t bytes = 0;
  for (const char c : document) {
    text += (bytes == 0 ? "      \"" : "") + escaped(c);
    ++bytes;
    if (c != '\n' && bytes < kMostBytesOfALiteral) continue;
    text += "\",\n";
    bytes = 0;
  }
  if (bytes > 0) text += "\",\n";
  return text;
}

void check_identifier(std::string_view name) {
  bool good = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0;
  for (const char c : name)
    good = good && (c == '_' || (static_cast<unsigned char>(c) < 128 && std::isalnum(c) != 0));
  if (good) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("--name: '{}' is not the name of a C++ function: write letters, digits and "
                  "underscores, and begin with a letter",
                  name));
}

/// On one line, whatever it says: ?\?/ is a backslash too.
std::string comment(std::string_view subject) {
  std::string text = printable_name(subject);
  std::ranges::replace_if(
      text, [](char c) { return c == '\\' || c == '?'; }, ' ');
  return text;
}

}  // namespace

std::string table_header(std::string_view document, std::string_view name,
                         std::string_view subject) {
  check_identifier(name);
  return fmt::format(
      "// Made by `tune export --format header`: {}\n"
      "#pragma once\n\n"
      "#include <string>\n\n"
      "/// What was tuned, for tuner::Table::text().\n"
      "inline std::string {}() {{\n"
      "  static const char* const pieces[] = {{\n{}  }};\n"
      "  std::string text;\n"
      "  text.reserve({});\n"
      "  for (const char* piece : pieces) text += piece;\n"
      "  return text;\n"
      "}}\n",
      comment(subject), name, literals(document), document.size());
}

}  // namespace tuner::cli
