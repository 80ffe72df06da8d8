// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/select/stored_family.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

void require_own_code(const std::string& database, const store::KernelRecord& kernel) {
  try {
    select::require_own_code(kernel);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("{}: nothing is merged from it: {}", database, error.what()));
  }
}

}  // namespace

int merge(const CommonOptions& common, const MergeOptions& options) {
  store::Store store = open_database(common, store::Store::Mode::read_write);
  Json document = {{"schema", "tune.merge/1"}, {"databases", Json::array()}};
  for (const std::string& path : options.databases) {
    CommonOptions theirs = common;
    theirs.database = path;
    const store::MergeResult result =
        store.merge(open_database(theirs, store::Store::Mode::read_only),
                    [&](const store::KernelRecord& kernel) { require_own_code(path, kernel); });
    document["databases"].push_back({{"database", path},
                                     {"sessions", result.runs},
                                     {"known", result.known},
                                     {"running", result.running},
                                     {"bests", result.bests.added},
                                     {"bests_kept", result.bests.kept}});
    if (common.json) continue;
    Output(common).tell(
        "{}: {} added, {} here already, {} skipped while running; {} added, not verified on this "
        "machine yet\n",
        path, quantity::count(result.runs, "run"), result.known, result.running,
        quantity::count(result.bests.added, "best configuration"));
  }
  if (common.json) fmt::print("{}", json_text(document));
  return 0;
}

}  // namespace tuner::cli
