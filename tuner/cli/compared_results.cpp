// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/compared_results.hpp"

#include "tuner/cli/database.hpp"
#include "tuner/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace tuner::cli {

report::ComparedResults compared_results(const CommonOptions& common, const std::string& text) {
  // A file may have an @ in its name.
  const std::size_t at = std::filesystem::exists(text) ? std::string::npos : text.find('@');
  CommonOptions theirs = common;
  if (at != 0) theirs.database = text.substr(0, at);
  const store::Store store = open_database(theirs, store::Store::Mode::read_only);
  std::vector<store::StoredBest> bests = store.bests({});
  if (bests.empty()) {
    throw Error(ErrorCode::nothing_found,
                fmt::format("{} has no results of final rounds", store.path().string()));
  }
  if (at == std::string::npos) return {.name = text, .bests = std::move(bests)};
  const std::string words = text.substr(at + 1);
  std::vector<store::StoredBest> chosen =
      words.empty() ? std::vector<store::StoredBest>() : report::results_about(bests, words);
  if (chosen.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("'{}': no result in {} matches '{}'; it has\n  {}", text, store.path().string(),
                    words, fmt::join(report::described_environments(bests), "\n  ")));
  }
  return {.name = text, .bests = std::move(chosen)};
}

}  // namespace tuner::cli
