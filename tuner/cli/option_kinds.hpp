// SPDX-License-Identifier: Apache-2.0
// The kinds of options that several commands have.
#pragma once

#include "tuner/cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tuner::cli {

/// Takes whole numbers from `least` to `most`, and `alone`. CLI11 itself takes "-1" for a huge
/// unsigned number, and its messages about two ranges are of both.
[[nodiscard]] CLI::Validator whole_number(
    std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max(),
    std::optional<std::uint64_t> alone = std::nullopt);

/// An option with a value that help texts call `type`. They show the default of a text.
template <class T>
CLI::Option* add_value(CLI::App& app, const std::string& names, T& value, const std::string& type,
                       const std::string& text) {
  CLI::Option* const option = app.add_option(names, value, text)->type_name(type);
  if constexpr (std::is_same_v<T, std::string>) option->capture_default_str();
  return option;
}

/// An option with a whole number.
template <class T>
CLI::Option* add_number(CLI::App& app, const std::string& names, T& value, std::uint64_t least,
                        const std::string& text,
                        std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  return add_value(app, names, value, "N", text)->check(whole_number(least, most));
}

/// An option that may be repeated, with one value each time.
CLI::Option* add_list(CLI::App& app, const std::string& names, std::vector<std::string>& values,
                      const std::string& type, const std::string& text);

/// An option with a space file: as given_or_installed.
CLI::Option* add_space_file(CLI::App& app, const std::string& names, std::string& file,
                            const std::string& text);

void add_seed(CLI::App& app, std::uint64_t& seed, const std::string& text);
void add_device_options(CLI::App& app, DeviceOptions& options);

}  // namespace tuner::cli
