// SPDX-License-Identifier: Apache-2.0
// The tables that are installed with tuner: what it knows before anything was tuned.
#pragma once

#include "tuner/select/catalogue_json.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tuner::select {

/// The file of a device model among the installed tables: share/tuner/tables/nvidia-h200.json of
/// the prefix in which the program or library lies that this is a part of. None where there is
/// none, or others own or may change it.
[[nodiscard]] std::optional<std::filesystem::path> shipped_table(std::string_view device);

/// Its kernels, for the very device model in this environment; the explanation says `shipped`. None
/// where there is no such table. Throws Error(usage) when it cannot be read.
[[nodiscard]] std::optional<CatalogueOutline> read_shipped_table(
    const space::DeviceInfo& device, const space::EnvironmentInfo& environment);

/// The same for a device that is known by its name alone, as it was when the table was made.
[[nodiscard]] std::optional<Catalogue> shipped_catalogue(const std::string& device);

}  // namespace tuner::select
