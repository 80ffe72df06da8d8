// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/version.hpp"

#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <vector>

namespace tuner::cli {
namespace {

// Empty where the sources are not a clone, or the program has no cuda backend.
constexpr std::string_view kCommit = TUNER_COMMIT;
constexpr std::string_view kCuda = TUNER_CUDA_VERSION;

}  // namespace

std::string version_text() {
  std::vector<std::string> parts;
  if (!kCommit.empty()) parts.push_back(fmt::format("commit {}", kCommit));
  parts.push_back(kCuda.empty() ? "without CUDA" : fmt::format("CUDA {}", kCuda));
  parts.push_back(fmt::format("SQLite {}", store::sqlite_version()));
  return fmt::format("tune {} ({})\n", TUNER_VERSION, fmt::join(parts, ", "));
}

Json version_json() {
  const auto known = [](std::string_view text) { return text.empty() ? Json() : Json(text); };
  return {{"schema", "tune.version/1"},
          {"version", TUNER_VERSION},
          {"commit", known(kCommit)},
          {"cuda", known(kCuda)},
          {"sqlite", store::sqlite_version()}};
}

}  // namespace tuner::cli
