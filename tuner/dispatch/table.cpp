// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/table.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/trust.hpp"
#include "tuner/dispatch/database_snapshot.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/family_catalogue.hpp"
#include "tuner/select/shipped_table.hpp"
#include "tuner/store/database_path.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace tuner::dispatch {
namespace {

constexpr std::size_t kTableLimitBytes = std::size_t{256} << 20;

select::CatalogueKernel without_results(const store::KernelRecord& record) {
  select::CatalogueKernel kernel;
  kernel.record = std::make_shared<const store::KernelRecord>(record);
  kernel.stored = select::ranked_kernel(record);
  return kernel;
}

/// The kernels of a database in the version used last, without entries: for a device on which none
/// of them was tuned.
select::Catalogue kernels_alone(const store::Store& store, const space::DeviceInfo& device,
                                const space::EnvironmentInfo& environment) {
  select::Catalogue result{.device = device,
                           .environment = environment,
                           .kernels = {},
                           .portfolios = {},
                           .explanation = {}};
  std::set<std::pair<std::string, std::string>> known;
  for (const store::KernelRecord& record : store.kernels({})) {
    if (!select::has_space(record) || !known.emplace(record.family, record.kernel).second) continue;
    result.kernels.push_back(without_results(record));
  }
  result.explanation.push_back(
      fmt::format("device: nothing was tuned on {} in {}", device.name, store.path().string()));
  return result;
}

select::Catalogue read_store(const std::filesystem::path& path, const space::DeviceInfo& device,
                             const space::EnvironmentInfo& environment) {
  const store::Store store(path, store::Store::Mode::read_only);
  try {
    select::Catalogue result =
        select::catalogue(store, {.device = device.name, .environment = environment});
    if (result.device.backend != device.backend) return kernels_alone(store, device, environment);
    return result;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nothing_found) throw;
    return kernels_alone(store, device, environment);
  }
}

/// Replaces the advice in the store's message, which names an option of `tune`, by advice for
/// applications.
std::string for_applications(std::string message) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {", or pass --trust-db", ""},
      {" with --db", " in Table::database()"},
  };
  for (const auto& [of_the_program, of_the_library] : kWords) {
    for (std::size_t at = message.find(of_the_program); at != std::string::npos;
         at = message.find(of_the_program)) {
      message.replace(at, of_the_program.size(), of_the_library);
    }
  }
  return message;
}

select::CatalogueOutline read_database(const std::filesystem::path& path,
                                       const space::DeviceInfo& device,
                                       const space::EnvironmentInfo& environment,
                                       backend::BinaryCache& snapshots) {
  const DatabaseSnapshot snapshot(snapshots, path, device, environment);
  if (auto kept = snapshot.find()) return *std::move(kept);
  select::CatalogueOutline outline{.known = read_store(path, device, environment)};
  snapshot.keep(outline.known);
  outline.unread.resize(outline.known.kernels.size());
  return outline;
}

/// Entries of other devices are not used.
select::CatalogueOutline for_device(select::CatalogueOutline outline,
                                    const space::DeviceInfo& device) {
  select::Catalogue& known = outline.known;
  const bool is_of_the_device = known.device.backend == device.backend &&
                                known.device.name == device.name &&
                                known.device.architecture == device.architecture;
  if (!is_of_the_device) {
    for (select::CatalogueKernel& kernel : known.kernels) kernel = without_results(*kernel.record);
    for (std::string_view& unread : outline.unread) unread = {};
    known.portfolios.clear();
    known.explanation.push_back(fmt::format("device: the table is of {} ({}), this is {} ({})",
                                            known.device.name, known.device.architecture,
                                            device.name, device.architecture));
  }
  return outline;
}

select::CatalogueOutline read_table_file(const std::filesystem::path& path,
                                         const space::DeviceInfo& device) {
  const auto require_none = [&](const std::optional<Distrust>& found) {
    if (!found) return;
    throw Error(ErrorCode::usage,
                fmt::format("{}: {}: {}, or give its text to Table::text() if you trust it",
                            path.string(), found->why, found->remedy));
  };
  require_none(distrust(path));
  // Who may rename a directory above it can put another file in its place meanwhile.
  const std::string text = read_file(path, kTableLimitBytes, [&](const struct stat& opened) {
    if (S_ISREG(opened.st_mode)) require_none(distrust(opened, "the file"));
  });
  return for_device(select::outline_catalogue(text, path.string()), device);
}

select::CatalogueOutline read(const TableSource& source, const space::DeviceInfo& device,
                              const space::EnvironmentInfo& environment,
                              backend::BinaryCache& snapshots) {
  switch (source.kind) {
    case TableSource::Kind::database:
      try {
        return read_database(source.path.empty() ? store::default_database() : source.path, device,
                             environment, snapshots);
      } catch (const Error& error) {
        throw Error(error.code(), for_applications(error.what()));
      }
    case TableSource::Kind::file:
      return read_table_file(source.path, device);
    case TableSource::Kind::text:
      return for_device(select::outline_catalogue(source.text, "the embedded table"), device);
    case TableSource::Kind::empty:
      break;
  }
  return {};
}

select::CatalogueOutline in_use(select::CatalogueOutline outline, const space::DeviceInfo& device,
                                const space::EnvironmentInfo& environment) {
  outline.known.device = device;
  outline.known.environment = environment;
  return outline;
}

bool has_results(const select::CatalogueOutline& family) {
  return !family.known.portfolios.empty() ||
         std::ranges::any_of(family.unread, [](std::string_view it) { return !it.empty(); }) ||
         std::ranges::any_of(family.known.kernels,
                             [](const select::CatalogueKernel& it) { return !it.entries.empty(); });
}

}  // namespace

std::map<std::string, FamilySource> read_families(const TableSource& source,
                                                  const space::DeviceInfo& device,
                                                  const space::EnvironmentInfo& environment,
                                                  backend::BinaryCache& snapshots) {
  std::optional<select::CatalogueOutline> shipped;
  if (source.kind == TableSource::Kind::database) {
    shipped = select::read_shipped_table(device, environment);
  }
  std::map<std::string, FamilySource> families;
  try {
    auto own = in_use(read(source, device, environment, snapshots), device, environment);
    for (auto& [name, outline] : by_family(std::move(own))) {
      families[name].outline = std::move(outline);
    }
  } catch (const Error& error) {
    // The default database, which does not exist yet.
    if (!shipped || !source.path.empty() || error.code() != ErrorCode::nothing_found) throw;
  }
  if (!shipped) return families;
  for (auto& [name, outline] : by_family(*std::move(shipped))) {
    FamilySource& family = families[name];
    if (has_results(family.outline)) {
      family.shipped = std::move(outline);
    } else {
      family.outline = std::move(outline);
    }
  }
  return families;
}

}  // namespace tuner::dispatch
