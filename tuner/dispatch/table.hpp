// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/space/device.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace tuner::dispatch {

/// Where a Table comes from.
struct TableSource {
  enum class Kind { database, file, text, empty };

  Kind kind = Kind::empty;
  std::filesystem::path path;  ///< empty for a database: the default one
  std::string text;
};

/// What a table knows of a device, in this environment, by family: kernels with their entries
/// there, none where they were tuned on other devices only. What a database says is kept in
/// `snapshots`; families of which it has no result on this device come from the table that is
/// shipped for it. Throws Error.
[[nodiscard]] std::map<std::string, select::CatalogueOutline> read_families(
    const TableSource& source, const space::DeviceInfo& device,
    const space::EnvironmentInfo& environment, backend::BinaryCache& snapshots);

}  // namespace tuner::dispatch
