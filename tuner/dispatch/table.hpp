// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/select/catalogue.hpp"
#include "tuner/space/device.hpp"

#include <filesystem>
#include <string>

namespace tuner {

/// Where a Table comes from.
struct TableSource {
  enum class Kind { database, file, text, empty };

  Kind kind = Kind::empty;
  std::filesystem::path path;  ///< empty for a database: the default one
  std::string text;
};

/// What a table knows of a device: kernels with their entries there, none where they were tuned
/// on other devices only. Without stale entries where these are refused. Throws Error.
[[nodiscard]] Catalogue read_table(const TableSource& source, const DeviceInfo& device,
                                   const EnvironmentInfo& environment, StalePolicy policy);

}  // namespace tuner
