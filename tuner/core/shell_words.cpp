// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/shell_words.hpp"

#include "tuner/core/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tuner {
namespace {

constexpr std::string_view kHarmless =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:+@%";

/// What no terminal shows, such as a name that is no UTF-8, in a form that can be pasted.
std::string escaped(const std::string& word) {
  std::string text = "$'";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) {
      text += fmt::format("\\{:03o}", byte);  // three digits end it, whatever follows
    } else {
      text += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    }
  }
  return text + "'";
}

/// The text of $'…' that begins at `at`, behind its first quote, which is moved behind its last.
std::string unescaped(std::string_view line, std::size_t& at) {
  const auto is_octal = [&](std::size_t i) {
    return i < line.size() && line[i] >= '0' && line[i] <= '7';
  };
  std::string text;
  for (; at < line.size() && line[at] != '\''; ++at) {
    if (line[at] != '\\' || at + 1 == line.size()) {
      text += line[at];
    } else if (is_octal(at + 1) && is_octal(at + 2) && is_octal(at + 3)) {
      const auto digit = [&](std::size_t i) { return line[at + i] - '0'; };
      text += static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
      at += 3;
    } else {
      text += line[++at];
    }
  }
  return text;
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kHarmless) == std::string::npos) return word;
  if (printable(word) != word || word.find('\n') != std::string::npos) return escaped(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  bool in_word = false;
  bool in_quotes = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == ' ' && !in_quotes) {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (!in_quotes && line.substr(i).starts_with("$'")) {
      i += 2;
      words.back() += unescaped(line, i);
    } else if (line[i] == '\'') {
      in_quotes = !in_quotes;
    } else if (line[i] == '\\' && !in_quotes && i + 1 < line.size()) {
      words.back() += line[++i];
    } else {
      words.back() += line[i];
    }
  }
  return words;
}

std::string own_command(std::string_view line) {
  const std::vector<std::string> words = shell_words(line);
  return words.empty() || words.front() != "tune" ? "" : shell_line(words);
}

bool starts_program(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) {
    return word == "exec" || word == "record" || word == "capture";
  });
}

std::string foreign_command(std::string_view line) {
  const std::vector<std::string> words = shell_words(line);
  if (words.empty() || words.front() != "tune" || starts_program(words)) return "";
  constexpr std::string_view kOption = "--launch";
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == kOption) ++i;
    if (word != kOption && !word.starts_with(std::string(kOption) + "=")) kept.push_back(word);
  }
  return shell_line(kept);
}

}  // namespace tuner
