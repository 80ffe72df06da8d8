// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/shipped_table.hpp"

#include "tuner/core/file.hpp"
#include "tuner/core/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <dlfcn.h>
#include <sys/auxv.h>

namespace tuner::select {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostShippedBytes = std::size_t{64} << 20;

/// The file of the program or library that this code is a part of; empty where it cannot be told.
fs::path own_file() {
  Dl_info own{};
  Dl_info program{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &own) == 0) return {};
  const auto* const headers = reinterpret_cast<const void*>(::getauxval(AT_PHDR));
  // What the program calls itself is its user's word, and may lead anywhere.
  const bool is_program = ::dladdr(headers, &program) != 0 && program.dli_fbase == own.dli_fbase;
  std::error_code unreadable;
  const fs::path file =
      is_program ? fs::read_symlink("/proc/self/exe", unreadable) : fs::path(own.dli_fname);
  if (unreadable || !file.is_absolute()) return {};
  const fs::path real = fs::canonical(file, unreadable);
  return unreadable ? fs::path() : real;
}

/// "NVIDIA H200" is "nvidia-h200".
std::string file_name(std::string_view device) {
  std::string name;
  for (const char c : device) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += is_plain ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  return name + ".json";
}

CatalogueOutline read_outline(const fs::path& path) {
  CatalogueOutline outline = outline_catalogue(read_file(path, kMostShippedBytes), path.string());
  outline.known.explanation.push_back(fmt::format("table: shipped, {}", path.string()));
  return outline;
}

}  // namespace

std::optional<fs::path> shipped_table(std::string_view device) {
  const fs::path own = own_file();
  if (own.empty() || device.empty()) return std::nullopt;
  const fs::path folder = own.parent_path();
  // From bin/ and lib/, and from lib/x86_64-linux-gnu/.
  for (const fs::path& prefix : {folder / "..", folder / ".." / ".."}) {
    std::error_code missing;
    const fs::path path =
        fs::canonical(prefix / "share" / "tuner" / "tables" / file_name(device), missing);
    if (!missing && !distrust(path)) return path;
  }
  return std::nullopt;
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

}  // namespace tuner::select
