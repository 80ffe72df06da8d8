// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/table.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/select/catalogue_json.hpp"
#include "tuner/store/database_path.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tuner {
namespace {

constexpr std::size_t kFileLimitBytes = std::size_t{256} << 20;

/// The kernels of a database in the version used last, without entries: for a device on which none
/// of them was tuned.
Catalogue kernels_alone(const Store& store, const DeviceInfo& device,
                        const EnvironmentInfo& environment) {
  Catalogue result{.device = device, .environment = environment, .kernels = {}, .explanation = {}};
  std::set<std::pair<std::string, std::string>> known;
  for (const KernelRecord& record : store.kernels({})) {
    if (!has_space(record) || !known.emplace(record.family, record.kernel).second) continue;
    CatalogueKernel kernel;
    kernel.record = std::make_shared<const KernelRecord>(record);
    kernel.stored = std::make_shared<const StoredKernel>(stored_kernel(record));
    result.kernels.push_back(std::move(kernel));
  }
  result.explanation.push_back(
      fmt::format("device: nothing was tuned on {} in {}", device.name, store.path().string()));
  return result;
}

Catalogue read_database(const std::filesystem::path& path, const DeviceInfo& device,
                        const EnvironmentInfo& environment) {
  const Store store(path.empty() ? default_database() : path, Store::Mode::read_only);
  try {
    Catalogue result = catalogue(store, {.device = device.name, .environment = environment});
    if (result.device.backend != device.backend) return kernels_alone(store, device, environment);
    return result;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return kernels_alone(store, device, environment);
  }
}

/// An entry of another device never answers for this one.
Catalogue for_device(Catalogue catalogue, const DeviceInfo& device,
                     const EnvironmentInfo& environment) {
  const bool foreign =
      catalogue.device.backend != device.backend || catalogue.device.name != device.name;
  if (foreign) {
    for (CatalogueKernel& kernel : catalogue.kernels) {
      CatalogueKernel alone;
      alone.record = kernel.record;
      alone.stored = kernel.stored;
      kernel = std::move(alone);
    }
    catalogue.explanation.push_back(
        fmt::format("device: the table is of {}, this is {}", catalogue.device.name, device.name));
  }
  catalogue.device = device;
  return in_environment(std::move(catalogue), environment);
}

Catalogue read(const TableSource& source, const DeviceInfo& device,
               const EnvironmentInfo& environment) {
  switch (source.kind) {
    case TableSource::Kind::database:
      return read_database(source.path, device, environment);
    case TableSource::Kind::file:
      return for_device(
          parse_catalogue(read_file(source.path, kFileLimitBytes), source.path.string()), device,
          environment);
    case TableSource::Kind::text:
      return for_device(parse_catalogue(source.text, "the embedded table"), device, environment);
    case TableSource::Kind::empty:
      break;
  }
  return {.device = device, .environment = environment, .kernels = {}, .explanation = {}};
}

}  // namespace

Catalogue read_table(const TableSource& source, const DeviceInfo& device,
                     const EnvironmentInfo& environment, StalePolicy policy) {
  Catalogue catalogue = read(source, device, environment);
  if (policy == StalePolicy::refuse) {
    for (CatalogueKernel& kernel : catalogue.kernels) {
      std::erase_if(kernel.entries, [](const Entry& entry) { return entry.stale; });
    }
  }
  return catalogue;
}

Table Table::database(std::filesystem::path path) {
  return Table(std::make_shared<const TableSource>(
      TableSource{TableSource::Kind::database, std::move(path), {}}));
}

Table Table::file(std::filesystem::path path) {
  return Table(std::make_shared<const TableSource>(
      TableSource{TableSource::Kind::file, std::move(path), {}}));
}

Table Table::text(std::string_view document) {
  return Table(std::make_shared<const TableSource>(
      TableSource{TableSource::Kind::text, {}, std::string(document)}));
}

Table Table::empty() {
  return Table(std::make_shared<const TableSource>());
}

}  // namespace tuner
