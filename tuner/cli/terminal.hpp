// SPDX-License-Identifier: Apache-2.0
// What the reader's terminal can show: its width, its characters, its colours.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// When output is coloured: --color.
enum class ColorChoice { automatic, always, never };
/// Throws Error(usage) for another word than auto, always or never.
[[nodiscard]] ColorChoice color_choice(std::string_view word);

enum class Color { none, bold, red, green, yellow };

/// What one stream leads to.
class Terminal {
 public:
  /// Of a standard stream. Its width is that of the terminal, else $COLUMNS, else 80 columns; its
  /// text is UTF-8 where the locale is; `automatic` colours only a terminal, unless NO_COLOR is set
  /// or TERM is "dumb".
  Terminal(int stream, ColorChoice choice);
  Terminal(std::size_t width, bool utf8, bool colored)
      : width_(width), is_utf8_(utf8), is_colored_(colored) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  /// `text` between the escape sequences of a colour, or as it is.
  [[nodiscard]] std::string colored(std::string_view text, Color color) const;
  /// `text`, whose characters outside of ASCII are replaced where the terminal has none: × by x,
  /// µ by u.
  [[nodiscard]] std::string encoded(std::string_view text) const;

 private:
  std::size_t width_ = 80;
  bool is_utf8_ = true, is_colored_ = false;
};

/// A text as printable() makes it, but for the escape sequences of colours: what else a terminal
/// would act upon came with foreign text.
[[nodiscard]] std::string without_commands(std::string_view text);

/// The number of code points, each of which takes one column; the escape sequences of colours take
/// none.
[[nodiscard]] std::size_t text_width(std::string_view text);

/// The lines of a paragraph, broken at spaces. A word that is longer than a line stays whole: a
/// path or a configuration can be copied.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width);

/// A message: as wrapped_lines, but commands to be copied ("  tune …") and lines above a caret stay
/// as they are.
[[nodiscard]] std::string wrapped_messages(std::string_view text, std::size_t width);

/// A text with line breaks, of which each line is wrapped; what follows the first is indented
/// as the line was, and by `hang` more columns.
[[nodiscard]] std::string wrapped_lines(std::string_view text, std::size_t width,
                                        std::size_t hang = 2);

}  // namespace tuner::cli
