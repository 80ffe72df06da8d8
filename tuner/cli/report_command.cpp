// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/core/json.hpp"
#include "tuner/report/report.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {

int report(const CommonOptions& common, const ReportOptions& options) {
  const Store store = open_database(common, Store::Mode::read_only);
  const auto device = options.device.empty() ? std::nullopt : std::optional(options.device);
  const auto paths = write_reports(store, device, options.directory);
  if (common.json) {
    Json document = {{"schema", "tune.report-files/1"}, {"files", Json::array()}};
    for (const auto& path : paths) document["files"].push_back(path.string());
    fmt::print("{}\n", document.dump(2));
    return 0;
  }
  for (const auto& path : paths) fmt::print("{}\n", path.string());
  return 0;
}

}  // namespace tuner::cli
