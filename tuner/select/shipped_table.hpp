// SPDX-License-Identifier: Apache-2.0
// The tables that are installed with tuner: what it knows before anything was tuned.
#pragma once

#include "tuner/core/error.hpp"
#include "tuner/select/catalogue_json.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::select {

/// The file of a device model among the installed tables: share/tuner/tables/nvidia-h200.json of
/// the prefix in which the program or library lies that this is a part of. None where there is
/// none, or others own or may change it.
[[nodiscard]] std::optional<std::filesystem::path> shipped_table(std::string_view device);

/// Its kernels, for the very device model in this environment; the explanation says `shipped`. None
/// where there is no such table. Throws Error(usage) when it cannot be read.
[[nodiscard]] std::optional<CatalogueOutline> read_shipped_table(
    const space::DeviceInfo& device, const space::EnvironmentInfo& environment);

/// Kernels of the table for a device known by its name alone, as it was when the table was made.
[[nodiscard]] std::optional<Catalogue> shipped_catalogue(const std::string& device);

/// The names of the devices that tables are installed for, without those that cannot be read.
[[nodiscard]] std::vector<std::string> shipped_devices();

/// Whether an installed table has results of a family, or of one kernel of it, at no fewer sizes
/// than were tuned here, imported results left out: then it is the one to ask about sizes that
/// neither has.
[[nodiscard]] bool shipped_knows_more(const Catalogue& shipped, const Catalogue& own,
                                      std::string_view family,
                                      const std::optional<std::string>& kernel = {});

/// A configuration that was best for a kernel of a family at a size on a device, by an installed
/// table.
struct ShippedWinner {
  std::string device, kernel;
  std::string problem;      ///< canonical size
  std::string config_json;  ///< canonical
};

/// Of a family, by all installed tables of devices of a backend. Calls `unreadable` for each table
/// that cannot be read, and leaves it out.
[[nodiscard]] std::vector<ShippedWinner> shipped_winners(
    std::string_view backend, std::string_view family,
    const std::function<void(const Error&)>& unreadable);

/// The members of the portfolios for a family in all installed tables of devices of a backend, each
/// once. Calls `unreadable` as shipped_winners.
[[nodiscard]] std::vector<store::PortfolioMember> shipped_members(
    std::string_view backend, std::string_view family,
    const std::function<void(const Error&)>& unreadable);

}  // namespace tuner::select
