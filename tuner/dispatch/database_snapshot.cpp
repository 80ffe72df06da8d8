// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/database_snapshot.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/dispatch/device_key.hpp"
#include "tuner/store/database_state.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace tuner::dispatch {
namespace {

/// Stands where a compiled kernel has its name.
constexpr const char* kSymbol = "table/3";

std::string key_of(const std::filesystem::path& database, const space::DeviceInfo& device,
                   const space::EnvironmentInfo& environment) {
  std::error_code unknown;
  const std::string path = std::filesystem::weakly_canonical(database, unknown).string();
  return content_hash({"table of a database", kSymbol, path, device_key(device, environment)});
}

/// Cuts the first line off a text.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

DatabaseSnapshot::DatabaseSnapshot(backend::BinaryCache& cache,
                                   const std::filesystem::path& database,
                                   const space::DeviceInfo& device,
                                   const space::EnvironmentInfo& environment)
    : cache_(cache),
      key_(key_of(database, device, environment)),
      state_(store::database_state(database)) {}

std::optional<select::CatalogueOutline> DatabaseSnapshot::find() const {
  if (!state_) return std::nullopt;
  const auto kept = cache_.find(key_);
  if (!kept || kept->symbols != std::vector<std::string>{kSymbol}) return std::nullopt;
  std::string_view text(reinterpret_cast<const char*>(kept->image.data()), kept->image.size());
  if (next_line(text) != *state_) return std::nullopt;
  try {
    const std::string_view explanation = next_line(text);
    select::CatalogueOutline outline =
        select::outline_catalogue(std::string(text), "the cached table");
    outline.known.explanation =
        parse_json(explanation, "the cached table").get<std::vector<std::string>>();
    return outline;
  } catch (const Error&) {  // of another version: the database itself is read
    return std::nullopt;
  }
}

void DatabaseSnapshot::keep(const select::Catalogue& catalogue) const {
  if (!state_ || catalogue.kernels.empty()) return;
  const std::string text = fmt::format("{}\n{}\n{}", *state_, Json(catalogue.explanation).dump(),
                                       select::catalogue_json(catalogue));
  backend::Binary kept{.image = std::vector<std::byte>(text.size()), .symbols = {kSymbol}};
  std::memcpy(kept.image.data(), text.data(), text.size());
  cache_.keep(key_, kept);
}

}  // namespace tuner::dispatch
