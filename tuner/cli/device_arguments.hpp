// SPDX-License-Identifier: Apache-2.0
// Options of the commands that run something on a device.
#pragma once

#include "tuner/cli/commands.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <limits>
#include <optional>

namespace tuner::cli {

/// Takes whole numbers from `least` to `most`, and `alone`. CLI11 itself takes "-1" for a huge
/// unsigned number, and its messages about two ranges are of both.
[[nodiscard]] CLI::Validator whole_number(
    std::uint64_t least, std::uint64_t most = std::numeric_limits<std::uint64_t>::max(),
    std::optional<std::uint64_t> alone = std::nullopt);

void add_device_options(CLI::App& app, DeviceOptions& options);
void add_bench_options(CLI::App& app, BenchOptions& options);

}  // namespace tuner::cli
