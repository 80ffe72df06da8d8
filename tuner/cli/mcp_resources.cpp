// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/mcp_resources.hpp"

#include "tuner/cli/data_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/printable.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestResource = std::size_t{4} << 20;

std::string read_text(const fs::path& path) {
  return as_utf8(read_file(path, kLargestResource));
}

/// The first heading of a page, the title of a schema, else the file's name.
std::string title_of(const fs::path& path) {
  const std::string text = read_text(path);
  if (path.extension() == ".json") {
    const Json schema = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (schema.is_object()) return schema.value("title", path.filename().string());
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) return line.substr(2);
  }
  return path.filename().string();
}

}  // namespace

McpResources::McpResources() {
  if (const auto docs = data_folder("docs")) add(*docs, "tuner://docs/", ".md", "text/markdown");
  if (const auto schemas = data_folder("spaces/schema")) {
    add(*schemas, "tuner://schema/", ".json", "application/schema+json");
  }
  std::ranges::sort(resources_, {}, &Resource::uri);
}

void McpResources::add(const fs::path& folder, std::string_view prefix, std::string_view extension,
                       std::string_view type) {
  std::error_code unreadable;
  for (const auto& entry : fs::recursive_directory_iterator(folder, unreadable)) {
    if (!entry.is_regular_file(unreadable) || entry.path().extension() != extension) continue;
    resources_.push_back(
        {.uri = std::string(prefix) + fs::relative(entry.path(), folder).generic_string(),
         .title = title_of(entry.path()),
         .type = type,
         .path = entry.path()});
  }
}

Json McpResources::list() const {
  Json list = Json::array();
  for (const Resource& each : resources_) {
    list.push_back({{"uri", each.uri},
                    {"name", each.path.filename().string()},
                    {"title", each.title},
                    {"mimeType", each.type}});
  }
  return list;
}

std::optional<Json> McpResources::read(std::string_view uri) const {
  const auto found = std::ranges::find(resources_, uri, &Resource::uri);
  if (found == resources_.end()) return std::nullopt;
  return Json::array(
      {{{"uri", found->uri}, {"mimeType", found->type}, {"text", read_text(found->path)}}});
}

}  // namespace tuner::cli
