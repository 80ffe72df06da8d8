// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/data_file.hpp"

#include "tuner/core/installed_file.hpp"

#include <system_error>

namespace tuner::cli {

std::optional<std::filesystem::path> data_file(const std::filesystem::path& name) {
  if (auto installed = installed_file("share/tuner" / name)) return installed;
  return installed_file(name);
}

std::string given_or_installed(const std::string& name) {
  const std::filesystem::path path(name);
  std::error_code unknown;
  if (name.empty() || std::filesystem::exists(path, unknown) || path.lexically_normal() != path) {
    return name;
  }
  const std::string first = path.begin()->string();
  if (first != "spaces" && first != "examples") return name;
  const auto installed = data_file(path);
  return installed ? installed->string() : name;
}

}  // namespace tuner::cli
