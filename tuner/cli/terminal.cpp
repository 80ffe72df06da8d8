// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/terminal.hpp"

#include "tuner/cli/format.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/printable.hpp"

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

/// Of the escape sequence of a colour with which a text begins; 0: it begins with none.
std::size_t bytes_of_color(std::string_view text) {
  constexpr std::string_view kBegin = "\x1b[";
  if (!text.starts_with(kBegin)) return 0;
  const std::size_t end = text.find_first_not_of("0123456789", kBegin.size());
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

/// Lines that words are added to.
class Paragraph {
 public:
  explicit Paragraph(std::size_t width) : width_(width) {}

  /// A word, behind the separator where it does not begin a line.
  void add(std::string_view word, std::string_view separator) {
    const std::size_t columns = text_width(word);
    if (!lines_.back().empty() && column_ + separator.size() + columns > width_) {
      lines_.emplace_back();
      column_ = 0;
      separator = "";
    }
    lines_.back() += separator;
    lines_.back() += word;
    column_ += separator.size() + columns;
  }

  [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

 private:
  std::size_t width_, column_ = 0;
  std::vector<std::string> lines_ = std::vector<std::string>(1);
};

}  // namespace

ColorChoice color_choice(std::string_view word) {
  const std::vector<std::string> words = {"auto", "always", "never"};
  require_word("--color", word, words);
  return static_cast<ColorChoice>(std::ranges::find(words, word) - words.begin());
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

std::string without_commands(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t color = bytes_of_color(text);
    result += text.substr(0, color);
    text.remove_prefix(color);
    const std::string_view plain = text.substr(0, text.find('\x1b', 1));
    result += printable(plain);
    text.remove_prefix(plain.size());
  }
  return result;
}

std::size_t text_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t color = bytes_of_color(text);
    if (color == 0) ++width;
    text.remove_prefix(color > 0 ? color : bytes_of_character(text));
  }
  return width;
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  if (text_width(text) <= width) return {std::string(text)};
  Paragraph paragraph(width);
  std::string_view separator;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    paragraph.add(word, separator);
    const std::size_t spaces = std::min(text.find_first_not_of(' '), text.size());
    separator = spaces > 0 ? " " : "";
    text.remove_prefix(spaces);
  }
  return paragraph.take();
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
