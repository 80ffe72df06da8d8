// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tuner::report {

/// The command of a run as it works for another reader: without its database and what it printed
/// or wrote, with files as repository_path names them, and without the program of --launch. Empty
/// when it is no command of tune, or starts a program, as `tune exec`.
[[nodiscard]] std::string repeatable(std::string_view command);

/// The value of --space of a command, likewise; empty without one.
[[nodiscard]] std::string space_of_command(std::string_view command);

/// A file as the repository names it, "/home/me/tuner/spaces/gemm.json" → "spaces/gemm.json"; of
/// another absolute path the last name; a relative one as it is.
[[nodiscard]] std::string repository_path(std::string_view path);

}  // namespace tuner::report
