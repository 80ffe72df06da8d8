// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/terminal.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace tuner::cli {
namespace {

constexpr std::size_t kUsualWidth = 80;
constexpr std::size_t kLeastWidth = 40;  // below it nothing is readable

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::size_t width_of(int stream) {
  winsize size{};
  std::size_t width = 0;
  if (::isatty(stream) != 0 && ::ioctl(stream, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  const std::string_view columns = variable("COLUMNS");
  if (width == 0) std::from_chars(columns.data(), columns.data() + columns.size(), width);
  return width == 0 ? kUsualWidth : std::max(width, kLeastWidth);
}

bool is_colored(int stream, ColorChoice choice) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  const std::string_view terminal = variable("TERM");
  return ::isatty(stream) != 0 && variable("NO_COLOR").empty() && !terminal.empty() &&
         terminal != "dumb";
}

/// The characters that messages use, in ASCII.
constexpr std::array<std::pair<std::string_view, std::string_view>, 20> kInAscii = {
    {{"×", "x"},   {"–", "-"},  {"—", "-"},      {"µ", "u"},  {"μ", "u"},
     {"…", "..."}, {"→", "->"}, {"·", "."},      {"≤", "<="}, {"≥", ">="},
     {"≠", "!="},  {"±", "+-"}, {"√", "sqrt"},   {"“", "\""}, {"”", "\""},
     {"‘", "'"},   {"’", "'"},  {"\u00a0", " "}, {"²", "^2"}, {"³", "^3"}}};

std::size_t bytes_of_character(std::string_view text) {
  std::size_t bytes = 1;
  while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) ++bytes;
  return bytes;
}

std::string_view in_ascii(std::string_view character) {
  const auto* known =
      std::ranges::find(kInAscii, character, &decltype(kInAscii)::value_type::first);
  return known == kInAscii.end() ? "?" : known->second;
}

/// The first `width` columns of a word that is longer, up to and with a comma where there is one.
std::string_view first_part(std::string_view word, std::size_t width) {
  std::size_t comma = 0, at = 0;
  for (std::size_t column = 0; column < width && at < word.size(); ++column) {
    at += bytes_of_character(word.substr(at));
    if (word[at - 1] == ',') comma = at;
  }
  return word.substr(0, comma == 0 ? at : comma);
}

}  // namespace

ColorChoice color_choice(std::string_view word) {
  const std::vector<std::string> words = {"auto", "always", "never"};
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) {
    throw Error(ErrorCode::usage, fmt::format("--color: there is no '{}'{}", word,
                                              did_you_mean(std::string(word), words)));
  }
  return static_cast<ColorChoice>(found - words.begin());
}

Terminal::Terminal(int stream, ColorChoice choice)
    : width_(width_of(stream)),
      is_utf8_(std::string_view(::nl_langinfo(CODESET)) == "UTF-8"),
      is_colored_(is_colored(stream, choice)) {}

std::string Terminal::colored(std::string_view text, Color color) const {
  constexpr std::array<int, 5> kCodes = {0, 1, 31, 32, 33};
  if (!is_colored_ || color == Color::none) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes.at(static_cast<std::size_t>(color)), text);
}

std::string Terminal::encoded(std::string_view text) const {
  if (is_utf8_) return std::string(text);
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, bytes_of_character(text.substr(at)));
    const bool is_ascii = (static_cast<unsigned char>(character[0]) & 0x80) == 0;
    result += is_ascii ? character : in_ascii(character);
    at += character.size();
  }
  return result;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size(); at += bytes_of_character(text.substr(at))) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      ++width;
    }
  }
  return width;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return {std::string(text)};
  std::vector<std::string> lines(1);
  std::string_view separator;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    if (text_width(word) > width) word = first_part(word, width);
    if (!lines.back().empty() &&
        text_width(lines.back()) + separator.size() + text_width(word) > width) {
      lines.emplace_back();
      separator = "";
    }
    lines.back() += separator;
    lines.back() += word;
    text.remove_prefix(word.size());
    const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    separator = spaces > 0 ? " " : "";
    text.remove_prefix(spaces);
  }
  return lines;
}

std::string wrapped_lines(std::string_view text, std::size_t width, std::size_t hang) {
  std::string result;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool is_ended = line.size() < text.size();
    if (text_width(line) <= width) {
      result += line;
    } else {
      const std::size_t indent = std::min(line.find_first_not_of(' '), width / 2);
      const std::string first(indent, ' '), further(indent + hang, ' ');
      const auto lines = wrapped(line.substr(indent), width - indent - hang);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        result += (i == 0 ? first : "\n" + further) + lines[i];
      }
    }
    if (is_ended) result += '\n';
    text.remove_prefix(line.size() + (is_ended ? 1 : 0));
  }
  return result;
}

std::string wrapped_messages(std::string_view text, std::size_t width) {
  const auto next_line = [](std::string_view rest) {
    return rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
  };
  const auto words = [](std::string_view line) {
    return line.substr(std::min(line.find_first_not_of(' '), line.size()));
  };
  std::string result;
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    text.remove_prefix(line.size());
    const bool is_command = line.starts_with(' ') && words(line).starts_with("tune ");
    const bool is_pointed_at = !text.empty() && words(next_line(text)).starts_with('^');
    result += is_command || is_pointed_at ? std::string(line) : wrapped_lines(line, width);
  }
  return result;
}

}  // namespace tuner::cli
