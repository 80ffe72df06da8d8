// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cli/commands.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/family.hpp"
#include "tuner/verify/coverage.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tuner::cli {

/// What the checks of every kernel's default configuration reach of the family's reference kernel,
/// on a device of the options, at a size, empty: the first that `tune` tunes there. None for
/// another reference. Throws as OpenedDevice, and Error where the reference cannot run.
[[nodiscard]] std::optional<verify::Coverage> reference_coverage(const family::Family& family,
                                                                 const DeviceOptions& options,
                                                                 const std::string& size,
                                                                 std::uint64_t seed);

/// What no check reached, at most `most` gaps of it, with a line before them; empty: all was.
[[nodiscard]] std::vector<std::string> coverage_warning(
    const verify::Coverage& coverage, std::size_t most = std::numeric_limits<std::size_t>::max());

/// {"conditions", "gaps": [{"file", "line", "text", "within", "unseen", "advice"}], "problem"}
[[nodiscard]] Json coverage_json(const verify::Coverage& coverage);

}  // namespace tuner::cli
