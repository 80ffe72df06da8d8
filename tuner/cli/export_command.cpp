// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/store/best_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tuner::cli {
int export_bests(const CommonOptions& common, const ExportOptions& options) {
  const Store store = open_database(common, Store::Mode::read_only);
  ResultFilter filter;
  if (!options.device.empty()) filter.device = options.device;
  std::vector<std::string> lines;
  for (const StoredBest& stored : store.bests(filter)) lines.push_back(best_line(stored) + "\n");
  if (lines.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        fmt::format("{}: nothing to export{}", store.path().string(),
                    options.device.empty() ? "" : fmt::format(" for device '{}'", options.device)));
  }
  std::ranges::sort(lines);
  const std::string text = fmt::format("{}", fmt::join(lines, ""));
  if (options.output.empty()) {
    fmt::print("{}", text);
  } else {
    write_file(options.output, text);
  }
  return 0;
}

}  // namespace tuner::cli
