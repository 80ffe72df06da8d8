// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/shipped_table.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/installed_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace tuner::select {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTables = "share/tuner/tables";
constexpr std::size_t kMostShippedBytes = std::size_t{64} << 20;

/// "NVIDIA H200" is "nvidia-h200".
std::string file_name(std::string_view device) {
  std::string name;
  for (const char c : device) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += is_plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  return name + ".json";
}

/// By name, without those that others may change.
std::vector<fs::path> shipped_tables() {
  std::vector<fs::path> tables;
  const auto folder = installed_file(kTables);
  if (!folder) return tables;
  std::error_code unreadable;
  for (const fs::directory_entry& each : fs::directory_iterator(*folder, unreadable)) {
    if (each.path().extension() != ".json") continue;
    if (auto table = installed_file(fs::path(kTables) / each.path().filename())) {
      tables.push_back(*std::move(table));
    }
  }
  std::ranges::sort(tables);
  return tables;
}

CatalogueOutline read_outline(const fs::path& path) {
  CatalogueOutline outline = outline_catalogue(read_file(path, kMostShippedBytes), path.string());
  outline.known.explanation.push_back(fmt::format("table: shipped, {}", path.string()));
  return outline;
}

/// Of all installed tables of devices of a backend.
std::vector<CatalogueOutline> outlines_of(std::string_view backend,
                                          const std::function<void(const Error&)>& unreadable) {
  std::vector<CatalogueOutline> outlines;
  for (const fs::path& path : shipped_tables()) {
    try {
      CatalogueOutline outline = read_outline(path);
      if (outline.known.device.backend == backend) outlines.push_back(std::move(outline));
    } catch (const Error& error) {
      unreadable(error);
    }
  }
  return outlines;
}

}  // namespace

bool shipped_knows_more(const Catalogue& shipped, const Catalogue& own, std::string_view family,
                        const std::optional<std::string>& kernel) {
  const auto sizes = [&](const Catalogue& known, const auto& counts) {
    std::set<std::string_view> found;
    for (const CatalogueKernel& it : known.kernels) {
      if (it.record->family != family || (kernel && it.record->kernel != *kernel)) continue;
      for (const Entry& entry : it.entries) {
        if (counts(entry)) found.insert(entry.size.text);
      }
    }
    return found.size();
  };
  const auto any = [](const Entry&) { return true; };
  const auto tuned_here = [](const Entry& entry) { return entry.best.verified; };
  return sizes(shipped, any) >= sizes(own, tuned_here);
}

std::optional<fs::path> shipped_table(std::string_view device) {
  if (device.empty()) return std::nullopt;
  return installed_file(fs::path(kTables) / file_name(device));
}

std::optional<CatalogueOutline> read_shipped_table(const space::DeviceInfo& device,
                                                   const space::EnvironmentInfo& environment) {
  const auto path = shipped_table(device.name);
  if (!path) return std::nullopt;
  CatalogueOutline outline = read_outline(*path);
  if (outline.known.device.backend != device.backend || outline.known.device.name != device.name) {
    return std::nullopt;
  }
  outline.known.device = device;
  outline.known.environment = environment;
  return outline;
}

std::optional<Catalogue> shipped_catalogue(const std::string& device) {
  const auto path = shipped_table(device);
  if (!path) return std::nullopt;
  Catalogue known = parse_catalogue(read_file(*path, kMostShippedBytes), path->string());
  if (known.device.name != device) return std::nullopt;
  known.explanation.push_back(fmt::format("table: shipped, {}", path->string()));
  return known;
}

std::vector<std::string> shipped_devices() {
  std::vector<std::string> devices;
  for (const fs::path& path : shipped_tables()) {
    try {
      devices.push_back(read_outline(path).known.device.name);
    } catch (const Error&) {
      continue;
    }
  }
  return devices;
}

std::vector<ShippedWinner> shipped_winners(std::string_view backend, std::string_view family,
                                           const std::function<void(const Error&)>& unreadable) {
  std::vector<ShippedWinner> winners;
  for (CatalogueOutline& outline : outlines_of(backend, unreadable)) {
    const space::DeviceInfo& device = outline.known.device;
    for (std::size_t i = 0; i < outline.known.kernels.size(); ++i) {
      CatalogueKernel& kernel = outline.known.kernels[i];
      if (kernel.record->family != family) continue;
      if (!outline.unread[i].empty()) read_results(kernel, outline.unread[i], device.attributes);
      for (const Entry& entry : kernel.entries) {
        winners.push_back({.device = device.name,
                           .kernel = kernel.record->kernel,
                           .problem = entry.size.text,
                           .config_json = kernel.configs[entry.config].json});
      }
    }
  }
  return winners;
}

std::vector<store::PortfolioMember> shipped_members(
    std::string_view backend, std::string_view family,
    const std::function<void(const Error&)>& unreadable) {
  std::vector<store::PortfolioMember> members;
  for (const CatalogueOutline& outline : outlines_of(backend, unreadable)) {
    for (const store::PortfolioRecord& portfolio : outline.known.portfolios) {
      if (portfolio.family != family) continue;
      for (const store::PortfolioMember& member : portfolio.members) {
        if (std::ranges::find(members, member) == members.end()) members.push_back(member);
      }
    }
  }
  return members;
}

}  // namespace tuner::select
