// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/cli/terminal.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace tuner::cli {

/// Has the standard streams that this process was started without lead to /dev/null: else the next
/// file that it opens would take their place, and be written to. A result still cannot be written
/// where there was no stdout. Before anything else is opened.
void open_missing_streams();

/// Writes lines to stderr, in which nothing commands a terminal (without_commands). A failure to
/// write, as to a closed pipe or a full disk, is ignored. On a terminal, lines that are too wide
/// are wrapped (wrapped_messages).
void tell(std::string_view text) noexcept;
/// Writes an error as tell(); its first word is red where `color` has it so.
void tell_error(std::string_view message, ColorChoice color) noexcept;
/// Writes to stderr as it stands: what moves the terminal's cursor.
void draw(std::string_view text) noexcept;

/// --color as typed among arguments; `automatic` without it, and for a word that is no choice.
[[nodiscard]] ColorChoice asked_color(std::span<const std::string> arguments);

/// A result document as it is printed. Bytes that are no UTF-8, as in the name of a file or in a
/// compiler's words, are replaced: a reader of JSON would refuse the whole document. What would
/// command a terminal is escaped.
[[nodiscard]] std::string json_text(const Json& document);
/// Where --json is among the arguments and no document was made: an error's, "tune.error/1", on
/// stdout, so that a program that reads one gets one; of a file with the place of each mistake.
void print_error_document(const Error& error, std::span<const std::string> arguments) noexcept;

/// A result for people, on stdout, in the characters and colours of the terminal, which nothing
/// else in it commands (without_commands). Throws std::system_error when it cannot be written.
class Output {
 public:
  explicit Output(const CommonOptions& common);

  [[nodiscard]] const Terminal& terminal() const { return terminal_; }
  /// As it stands: code, paths, tables.
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    write(fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  /// Sentences: lines that are too wide are wrapped.
  template <class... Arguments>
  void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    write(wrapped_lines(fmt::format(format, std::forward<Arguments>(arguments)...),
                        terminal_.width()));
  }
  void table(const Table& table) const {
    write(markdown_ ? table.markdown() : table.text(terminal_));
  }
  /// A table of entries: on a terminal as one, else tab-separated for the program that reads it.
  void list(const Table& table) const;

 private:
  void write(const std::string& text) const;

  Terminal terminal_;
  bool markdown_;
};

/// Writes to stdout what is still buffered. Throws std::system_error, as fmt::print does, when the
/// result cannot be written.
void flush_result();

}  // namespace tuner::cli
