// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/toolkit_headers.hpp"

#include "tuner/core/environment.hpp"

#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace tuner::backend {
namespace {

namespace fs = std::filesystem;

/// CUDA_VERSION as a folder's cuda.h defines it.
std::optional<int> version_of(const fs::path& folder) {
  constexpr std::string_view kDefinition = "#define CUDA_VERSION ";
  std::ifstream file(folder / "cuda.h");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with(kDefinition)) return std::atoi(line.c_str() + kDefinition.size());
  }
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> toolkit_header_folders(std::span<const fs::path> candidates,
                                             int cuda_version) {
  for (const fs::path& candidate : candidates) {
    std::error_code error;
    const fs::path folder = fs::canonical(candidate, error);
    if (error || folder == "/usr/include" || version_of(folder) != cuda_version) continue;
    std::vector<fs::path> folders = {folder};
    if (fs::is_directory(folder / "cccl", error)) folders.push_back(folder / "cccl");
    return folders;
  }
  return {};
}

std::vector<fs::path> toolkit_header_candidates(const fs::path& library) {
  std::vector<fs::path> candidates;
  std::error_code error;
  const fs::path real = fs::canonical(library, error);
  if (!error) {
    // lib64/ beside include/, or targets/x86_64-linux/lib/ beside its own.
    candidates.push_back(real.parent_path().parent_path() / "include");
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const fs::path value = environment_variable(variable);
    if (value.is_absolute()) candidates.push_back(value / "include");
  }
  candidates.emplace_back("/usr/local/cuda/include");
  return candidates;
}

}  // namespace tuner::backend
