// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/space/device.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace tuner::dispatch {

/// A family of a table.
struct FamilySource {
  select::CatalogueOutline outline;
  std::optional<select::CatalogueOutline> shipped = {};  ///< what is shipped of it besides
};

/// What a table knows of a device, in this environment, by family: kernels with their entries
/// there, none where they were tuned on other devices only. What a database says is kept in
/// `snapshots`; to a database belongs what is shipped for the device, alone where the database has
/// no result of a family. Throws Error.
[[nodiscard]] std::map<std::string, FamilySource> read_families(
    const TableSource& source, const space::DeviceInfo& device,
    const space::EnvironmentInfo& environment, backend::BinaryCache& snapshots);

}  // namespace tuner::dispatch
