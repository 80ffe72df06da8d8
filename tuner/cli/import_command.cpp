// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace tuner::cli {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr const char* kStandardInput = "standard input";

/// All of it. Throws Error(usage) where it has nothing to import.
std::string standard_input() {
  const auto refuse = [](const std::string& why) -> Error {
    return {ErrorCode::usage, fmt::format("{}: {}", kStandardInput, why)};
  };
  if (::isatty(STDIN_FILENO) != 0) {
    throw refuse("is a terminal; give it the lines of `tune export`: tune export | tune import -");
  }
  std::string text;
  std::array<char, 1 << 16> piece{};
  while (const std::size_t got = std::fread(piece.data(), 1, piece.size(), stdin)) {
    text.append(piece.data(), got);
    if (text.size() > kLargestFile) {
      throw refuse(fmt::format("more than the limit of {} MiB", kLargestFile >> 20));
    }
  }
  if (std::ferror(stdin) != 0) throw refuse("cannot be read");
  if (text.empty()) throw refuse("is empty: what should write to it wrote nothing");
  return text;
}

struct Imported {
  std::string file;
  std::vector<store::StoredBest> bests;
};

/// Of all files, before any of them is imported.
std::vector<Imported> read_all(const std::vector<std::string>& files) {
  if (std::ranges::count(files, "-") > 1) {
    throw Error(ErrorCode::usage, "'-' is given twice: there is one standard input");
  }
  std::vector<Imported> all;
  for (const std::string& named : files) {
    const std::string file = named == "-" ? kStandardInput : named;
    const std::string text = named == "-" ? standard_input() : read_file(named, kLargestFile);
    all.push_back({file, store::parse_best_lines(text, file)});
  }
  return all;
}

}  // namespace

int import_bests(const CommonOptions& common, const ImportOptions& options) {
  const std::vector<Imported> all = read_all(options.files);
  store::Store store = open_database(common, store::Store::Mode::read_write);
  Json document = {{"schema", "tune.import/1"}, {"files", Json::array()}};
  for (const auto& [file, bests] : all) {
    const store::ImportResult result = store.import_bests(bests, file);
    document["files"].push_back({{"file", file}, {"added", result.added}, {"kept", result.kept}});
    if (common.json) continue;
    Output(common).tell(
        "{}: {} added, not verified on this machine yet; {} skipped: existing results are as "
        "good\n",
        file, quantity::count(result.added, "best configuration"), result.kept);
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

}  // namespace tuner::cli
