// SPDX-License-Identifier: Apache-2.0
// Command lines as text, to be typed again.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner {

/// The words as a POSIX shell (of 2024: bash, zsh, ksh) reads them back; those with other than
/// harmless characters quoted. It is UTF-8 without control characters whatever the words are.
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

/// One of them.
[[nodiscard]] std::string shell_word(const std::string& word);

/// The words of a line as shell_line writes it.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view line);

/// A command of `tune` that was stored, quoted anew: whatever a foreign database says, a shell that
/// it is pasted into runs `tune` and nothing else. Empty when it is no command of `tune`.
[[nodiscard]] std::string own_command(std::string_view line);

/// Whether these are the words of a command of `tune` that starts the program that follows.
[[nodiscard]] bool starts_program(std::span<const std::string> words);

/// As own_command, of a run on somebody else's machine: without --launch, whose value is a program.
/// Empty also where the command starts_program.
[[nodiscard]] std::string foreign_command(std::string_view line);

}  // namespace tuner
