// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/data_folder.hpp"

#include "tuner/core/installed_file.hpp"

namespace tuner::cli {

std::optional<std::filesystem::path> data_folder(const std::filesystem::path& name) {
  if (auto installed = installed_file("share/tuner" / name)) return installed;
  return installed_file(name);
}

}  // namespace tuner::cli
