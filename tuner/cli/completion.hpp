// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/command_description.hpp"
#include "tuner/cli/commands.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// A word that a command line may have at a place.
struct CompletedWord {
  std::string word;
  std::string text;  ///< what it means, in one line; empty: the word says it
};

/// The words that the last of `line`, "tune", "query", "--for", may become; none where that is the
/// name of a file, or anything. Kernels are those of the space file that the line names, otherwise
/// of its database (--db, else that of `common`), as sizes, devices and runs are; files that cannot
/// be read have none.
[[nodiscard]] std::vector<CompletedWord> completed_words(const CommandDescription& program,
                                                         const CommonOptions& common,
                                                         std::span<const std::string> line);

/// The script with which a shell completes the program's command line: it asks the program for the
/// words, `tune completion SHELL -- LINE…`. Throws Error(usage) unless the shell is bash, zsh or
/// fish.
[[nodiscard]] std::string_view completion_script(std::string_view shell);

/// Words as that shell's script reads them: one a line, behind a tab its text unless the shell is
/// bash.
[[nodiscard]] std::string completion_lines(const std::vector<CompletedWord>& words,
                                           std::string_view shell);

}  // namespace tuner::cli
