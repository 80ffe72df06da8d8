// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/output.hpp"

#include "tuner/core/file_errors.hpp"
#include "tuner/core/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace tuner::cli {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free, which is this one. A lost result must be an error.
    static_cast<void>(::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void tell(std::string_view text) noexcept {
  const std::string safe = without_commands(text);
  // In a file a line stays one: who searches it expects a message in one piece.
  if (::isatty(STDERR_FILENO) == 0) return draw(safe);
  draw(wrapped_messages(safe, Terminal(STDERR_FILENO, ColorChoice::never).width()));
}

namespace {

/// A line of a message that continues it is indented: none looks like another message.
std::string with_indented_lines(std::string_view message) {
  std::string text;
  for (std::size_t begin = 0; begin < message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size() - 1) + 1;
    const std::string_view line = message.substr(begin, end - begin);
    if (begin > 0 && !line.starts_with("  ")) text += "  ";
    text += line;
    begin = end;
  }
  return text;
}

}  // namespace

void tell_error(std::string_view message, ColorChoice color) noexcept {
  const Terminal terminal(STDERR_FILENO, color);
  tell(
      fmt::format("{} {}\n", terminal.colored("error:", Color::red), with_indented_lines(message)));
}

void draw(std::string_view text) noexcept {
  const Terminal terminal(STDERR_FILENO, ColorChoice::never);
  const std::string encoded = terminal.encoded(text);
  std::fwrite(encoded.data(), 1, encoded.size(), stderr);
}

ColorChoice asked_color(std::span<const std::string> arguments) {
  constexpr std::string_view kOption = "--color";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view word = arguments[i];
    if (!word.starts_with(kOption)) continue;
    word.remove_prefix(kOption.size());
    if (word.empty() && i + 1 < arguments.size()) word = arguments[i + 1];
    if (word.starts_with('=')) word.remove_prefix(1);
    if (word == "always") return ColorChoice::always;
    if (word == "never") return ColorChoice::never;
  }
  return ColorChoice::automatic;
}

namespace {

/// Whether json_text() was called.
std::atomic<bool>& has_document() {
  static std::atomic<bool> made = false;
  return made;
}

/// Whether an argument of `tune` is --json; of a program that it starts it is none.
bool asks_for_json(std::span<const std::string> arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

}  // namespace

void print_error_document(const Error& error, std::span<const std::string> arguments) noexcept {
  try {
    if (!asks_for_json(arguments) || has_document()) return;
    Json document = {{"schema", "tune.error/1"},
                     {"code", static_cast<int>(error.code())},
                     {"message", error.what()}};
    if (const auto* several = dynamic_cast<const FileErrors*>(&error)) {
      for (const FileError& each : several->errors()) {
        document["errors"].push_back(
            {{"message", each.message}, {"line", each.line}, {"column", each.column}});
      }
    }
    fmt::print("{}", json_text(document));
    std::fflush(stdout);
  } catch (...) {  // the message on stderr stands
  }
}

std::string json_text(const Json& document) {
  has_document() = true;
  std::string text;
  for (const char c : document.dump(2, ' ', false, Json::error_handler_t::replace)) {
    if (c == '\x7f') {
      text += "\\u007f";
    } else {
      text += c;
    }
  }
  return printable(text) + "\n";  // escapes what is left of commands as JSON does: \u009b
}

Output::Output(const CommonOptions& common)
    : terminal_(STDOUT_FILENO, common.color), markdown_(common.markdown) {}

void Output::list(const Table& table) const {
  const bool is_for_people = markdown_ || ::isatty(STDOUT_FILENO) != 0;
  if (is_for_people) {
    this->table(table);
  } else {
    write(table.tab_separated());
  }
}

void Output::write(const std::string& text) const {
  fmt::print("{}", terminal_.encoded(without_commands(text)));
}

void flush_result() {
  if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
}

}  // namespace tuner::cli
