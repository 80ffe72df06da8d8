// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/binary_cache.hpp"
#include "tuner/select/catalogue_json.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace tuner::dispatch {

/// What a database says of a device, as a table that is kept as compiled kernels are: while
/// nothing is committed to the database, opening it again checks no row and fits no cost model.
class DatabaseSnapshot {
 public:
  /// Notes the database's state: what is kept later must have been read after this. `cache` must
  /// outlive it. Throws as database_state.
  DatabaseSnapshot(backend::BinaryCache& cache, const std::filesystem::path& database,
                   const space::DeviceInfo& device, const space::EnvironmentInfo& environment);

  /// None where nothing is kept, or of another state of the database.
  [[nodiscard]] std::optional<select::CatalogueOutline> find() const;
  /// Does nothing when the state was not to be told, or the catalogue has no kernels.
  void keep(const select::Catalogue& catalogue) const;

 private:
  backend::BinaryCache& cache_;
  std::string key_;
  std::optional<std::string> state_;
};

}  // namespace tuner::dispatch
