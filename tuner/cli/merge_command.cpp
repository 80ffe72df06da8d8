// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {

int merge(const CommonOptions& common, const MergeOptions& options) {
  store::Store store = open_database(common, store::Store::Mode::read_write);
  Json document = {{"schema", "tune.merge/1"}, {"databases", Json::array()}};
  for (const std::string& path : options.databases) {
    CommonOptions theirs = common;
    theirs.database = path;
    const store::MergeResult result =
        store.merge(open_database(theirs, store::Store::Mode::read_only));
    document["databases"].push_back({{"database", path},
                                     {"sessions", result.sessions},
                                     {"known", result.known},
                                     {"running", result.running},
                                     {"bests", result.bests.added},
                                     {"bests_kept", result.bests.kept}});
    if (common.json) continue;
    fmt::print(
        "{}: {} added, {} here already, {} skipped while running; {} added, not verified on this "
        "machine yet\n",
        path, quantity::count(result.sessions, "run"), result.known, result.running,
        quantity::count(result.bests.added, "best configuration"));
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

}  // namespace tuner::cli
