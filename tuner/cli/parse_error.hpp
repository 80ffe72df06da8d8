// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tuner::cli {

/// Throws Error(usage) that says in this program's words why a command line could not be read, with
/// the word that was probably meant.
[[noreturn]] void fail_parse(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tuner::cli
