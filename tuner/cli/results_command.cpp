// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/core/json.hpp"
#include "tuner/family/data_files.hpp"
#include "tuner/verify/stored_results.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tuner::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestResultsFile = std::size_t{1} << 36;

/// The folder of a ResultsReference while results are made: files by the hash of their inputs, and
/// a manifest, which is written with each file. A process that is killed leaves what it finished.
class ResultsFolder {
 public:
  /// Makes the folder where it is missing. Throws Error(usage) where its manifest is none and
  /// Error(failure) where it cannot be made.
  explicit ResultsFolder(std::filesystem::path folder);

  /// Takes a copy of a file under a key. Throws Error(failure) naming what cannot be written.
  void keep(const std::string& key, const std::filesystem::path& file);
  /// What the folder has under a key is right.
  void confirm(const std::string& key) { settled_.insert(key); }
  /// Ends the work: where a result was replaced, all that was not confirmed is removed, and the
  /// folder gets another identity.
  void finish();

  [[nodiscard]] const std::string& identity() const { return identity_; }
  [[nodiscard]] std::size_t kept() const { return kept_; }          ///< new files
  [[nodiscard]] std::size_t replaced() const { return replaced_; }  ///< of other results
  [[nodiscard]] std::size_t size() const { return files_.size(); }

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const;
  void write_manifest() const;

  std::filesystem::path folder_;
  std::string identity_;                      // empty while results are incomplete
  std::map<std::string, std::string> files_;  // hashes of files by key
  std::set<std::string> settled_;             // kept or confirmed
  std::size_t kept_ = 0, replaced_ = 0;
};

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

using verify::ResultsAnswer;

void print_json_line(const Json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);  // a program waits for it
}

ResultsAnswer read_results_answer() {
  constexpr std::string_view kRefused = "refused: ", kFailed = "failed: ";
  std::string line;
  if (!std::getline(std::cin, line)) {
    throw Error(ErrorCode::failure,
                "the program that computes results ended without an answer on stdin; run the "
                "command again: what is finished is kept");
  }
  if (line == "ok") return {};
  if (line.starts_with(kRefused)) {
    return {.kind = ResultsAnswer::Kind::refused, .reason = line.substr(kRefused.size())};
  }
  if (line.starts_with(kFailed)) {
    return {.kind = ResultsAnswer::Kind::failed, .reason = line.substr(kFailed.size())};
  }
  throw Error(ErrorCode::usage,
              fmt::format("{} on stdin is no answer: write \"ok\", \"refused: REASON\" or "
                          "\"failed: REASON\" and a line end",
                          in_quotes(line)));
}

}  // namespace

int make_results(const CommonOptions&, const ResultsOptions& options) {
  const family::Family family = family::load_family(options.file);
  const std::filesystem::path path = family::results_folder(family);
  if (path.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{}: check.reference names no folder of results: write {{\"results\": "
                            "\"expected\"}}, or leave out this command",
                            options.file));
  }
  ResultsFolder folder(path);
  OpenedDevice opened(options, family, options.seed);
  TuneOptions sizes;
  sizes.sizes = options.sizes;
  sizes.lists = options.lists;
  const verify::ResultsProgram program = {
      .exchange = {},
      .ask =
          [](const verify::ResultsRequest& request) {
            print_json_line(
                {{"inputs", request.inputs.string()}, {"results", request.results.string()}});
            return read_results_answer();
          },
      .keep =
          [&](const std::string& key, const std::filesystem::path& file) {
            if (file.empty()) {
              folder.confirm(key);
            } else {
              folder.keep(key, file);
            }
          }};
  for (const space::Size& size : chosen_sizes(family, sizes, opened.device().device().backend)) {
    opened.device().make_results(size, program);
  }
  folder.finish();
  print_json_line({{"identity", folder.identity()},
                   {"files", folder.size()},
                   {"made", folder.kept()},
                   {"replaced", folder.replaced()}});
  return 0;
}

}  // namespace tuner::cli
