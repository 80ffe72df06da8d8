// SPDX-License-Identifier: Apache-2.0
// Any text as a file of `tune export`: refused, or imported so that exporting it and importing that
// changes nothing more.
#include "input.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/hash.hpp"
#include "tuner/store/best_line.hpp"
#include "tuner/store/store.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace tuner;

/// What a database exports after it has imported the bests.
std::vector<std::string> exported_after_import(const std::vector<store::StoredBest>& bests) {
  store::Store store = store::Store::in_memory();
  const store::ImportResult result = store.import_bests(bests, "fuzz");
  fuzz::require(result.added + result.kept == bests.size(), "every line is counted");
  std::vector<std::string> lines;
  for (const store::StoredBest& stored : store.bests({})) {
    fuzz::require(!stored.best.verified && stored.best.origin == "fuzz", "marked as imported");
    lines.push_back(store::best_line(stored));
  }
  std::ranges::sort(lines);
  fuzz::require(!lines.empty() && lines.size() <= bests.size(), "a line for each key");
  return lines;
}

void import_text(std::string_view text) {
  std::vector<store::StoredBest> bests;
  try {
    bests = store::parse_best_lines(text, "fuzz");
  } catch (const Error& error) {
    fuzz::require(error.code() == ErrorCode::usage, "a bad file is the user's to fix");
    return;
  }
  const std::vector<std::string> lines = exported_after_import(bests);
  std::string file;
  for (const std::string& line : lines) file += line + "\n";
  fuzz::require(exported_after_import(store::parse_best_lines(file, "fuzz")) == lines,
                "exported and imported again it is the same");
}

/// The first line with the checksum that it should have, which a fuzzer cannot guess.
std::string with_checksum(std::string_view text) {
  auto document =
      nlohmann::json::parse(text.substr(0, text.find('\n')), nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return "";
  document.erase("checksum");
  try {
    document["checksum"] = content_hash({document.dump()});
    return document.dump();
  } catch (const nlohmann::json::exception&) {
    return "";  // it is not UTF-8
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  import_text(text);
  import_text(with_checksum(text));
  return 0;
}
