// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/space/device.hpp"

#include <filesystem>
#include <string>

namespace tuner::dispatch {

/// Where a Table comes from.
struct TableSource {
  enum class Kind { database, file, text, empty };

  Kind kind = Kind::empty;
  std::filesystem::path path;  ///< empty for a database: the default one
  std::string text;
};

/// What a table knows of a device, in this environment: kernels with their entries there, none
/// where they were tuned on other devices only. What a database says is kept in `snapshots`. Throws
/// Error.
[[nodiscard]] select::CatalogueOutline read_table(const TableSource& source,
                                                  const space::DeviceInfo& device,
                                                  const space::EnvironmentInfo& environment,
                                                  backend::BinaryCache& snapshots);

}  // namespace tuner::dispatch
