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

namespace tuner::cli {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

}  // namespace

int import_bests(const CommonOptions& common, const ImportOptions& options) {
  store::Store store = open_database(common, store::Store::Mode::read_write);
  Json document = {{"schema", "tune.import/1"}, {"files", Json::array()}};
  for (const std::string& named : options.files) {
    const bool is_stdin = named == "-";
    const std::string file = is_stdin ? "standard input" : named;
    const std::vector<store::StoredBest> bests =
        store::parse_best_lines(read_file(is_stdin ? "/dev/stdin" : named, kLargestFile), file);
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
