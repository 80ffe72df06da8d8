// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/compared_results.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/core/file.hpp"
#include "tuner/core/json.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/sweep.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

constexpr std::size_t kSweepLimit = std::size_t{64} << 20;

}  // namespace

int report(const CommonOptions& common, const ReportOptions& options) {
  const auto device = options.device.empty() ? std::nullopt : std::optional(options.device);
  report::Additions additions;
  for (const std::string& file : options.sweeps) {
    additions.sweeps.push_back(report::parse_sweep(read_file(file, kSweepLimit), file));
  }
  for (const std::string& text : options.compared) {
    additions.compared.push_back(compared_results(common, text));
  }
  if (options.all_environments) {
    additions.environments = report::Additions::Environments::all;
  }
  const bool needs_database = additions.sweeps.empty() || !additions.compared.empty() ||
                              std::filesystem::exists(database_path(common));
  const auto paths =
      needs_database ? report::write_reports(open_database(common, store::Store::Mode::read_only),
                                             device, options.directory, additions)
                     : report::write_sweep_reports(device, options.directory, additions.sweeps);
  if (common.json) {
    Json document = {{"schema", "tune.report-files/1"}, {"files", Json::array()}};
    for (const auto& path : paths) document["files"].push_back(path.string());
    fmt::print("{}", json_text(document));
    return 0;
  }
  for (const auto& path : paths) fmt::print("{}\n", path.string());
  return 0;
}

}  // namespace tuner::cli
