// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/results_folder.hpp"

#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestResultsFile = std::size_t{1} << 36;

}  // namespace

ResultsFolder::ResultsFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  if (failed) {
    throw Error(ErrorCode::failure, fmt::format("the folder {} cannot be made: {}",
                                                folder_.string(), failed.message()));
  }
  const fs::path file = folder_ / "manifest.json";
  if (!fs::is_regular_file(file)) return;
  const Json manifest = parse_json(read_file(file, std::size_t{64} << 20), file.string());
  try {
    identity_ = manifest.at("identity").get<std::string>();
    files_ = manifest.at("files").get<std::map<std::string, std::string>>();
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: is no manifest of results: {}; remove the folder and run the "
                            "command again",
                            file.string(), error.what()));
  }
}

fs::path ResultsFolder::file_of(const std::string& key) const {
  return folder_ / (key + ".safetensors");
}

void ResultsFolder::keep(const std::string& key, const fs::path& file) {
  const std::string content = read_file(file, kLargestResultsFile);
  const bool is_new = settled_.insert(key).second;
  if (is_new && files_.contains(key)) {
    ++replaced_;
    identity_.clear();
  } else if (is_new) {
    ++kept_;
  }
  write_file(file_of(key), content);
  files_[key] = content_hash({content});
  write_manifest();
}

void ResultsFolder::finish() {
  if (replaced_ > 0) {
    for (auto it = files_.begin(); it != files_.end();) {
      if (settled_.contains(it->first)) {
        ++it;
        continue;
      }
      std::error_code ignored;
      fs::remove(file_of(it->first), ignored);
      it = files_.erase(it);
    }
  }
  if (identity_.empty()) {
    std::vector<std::string_view> parts;
    for (const auto& [key, hash] : files_) parts.insert(parts.end(), {key, hash});
    identity_ = content_hash(parts);
  }
  write_manifest();
}

void ResultsFolder::write_manifest() const {
  const Json manifest = {{"format", "results/1"}, {"identity", identity_}, {"files", files_}};
  write_file(folder_ / "manifest.json", manifest.dump(1) + "\n");
}

}  // namespace tuner::cli
