// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/core/json.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::cli {

/// The documents and schemas that `tune mcp` offers: of the installation, or of the source tree
/// that the program was built in.
class McpResources {
 public:
  McpResources();

  /// As "resources/list" gives them, by their addresses.
  [[nodiscard]] Json list() const;
  /// As "resources/read" gives one; none where there is no such resource. Throws Error(failure)
  /// when it cannot be read.
  [[nodiscard]] std::optional<Json> read(std::string_view uri) const;

 private:
  struct Resource {
    std::string uri, title;
    std::string_view type;  ///< MIME
    std::filesystem::path path;
  };
  void add(const std::filesystem::path& folder, std::string_view prefix, std::string_view extension,
           std::string_view type);

  std::vector<Resource> resources_;
};

}  // namespace tuner::cli
