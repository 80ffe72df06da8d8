// SPDX-License-Identifier: Apache-2.0
// Module cli: the program `tune`: its commands and options, what they print, exit codes; the
// commands as tools of the Model Context Protocol.
#pragma once

namespace tuner::cli {

/// Reads the command line, runs the command it names and returns its exit code. Throws
/// Error(usage) for a command line that makes no sense, with a suggestion, and whatever the command
/// throws.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace tuner::cli
