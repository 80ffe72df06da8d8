// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

std::vector<store::StrikeRecord> strikes_of(const store::Store& store, const std::string& kernel) {
  std::vector<store::StrikeRecord> strikes = store.strikes();
  std::erase_if(strikes, [&](const auto& it) { return !kernel.empty() && it.kernel != kernel; });
  return strikes;
}

void print_json(const std::vector<store::StrikeRecord>& strikes) {
  Json document = {{"schema", "tune.quarantine/1"}, {"configurations", Json::array()}};
  for (const store::StrikeRecord& it : strikes) {
    document["configurations"].push_back(
        {{"family", it.family},
         {"kernel", it.kernel},
         {"kernel_hash", it.kernel_hash},
         {"architecture", it.architecture},
         {"config", parse_json(it.config_json, "a stored configuration")},
         {"strikes", it.strikes},
         {"quarantined", it.strikes >= store::kStrikesToQuarantine},
         {"reason", it.reason},
         {"last_at", it.last_at}});
  }
  fmt::print("{}", json_text(document));
}

int list(const CommonOptions& common, const QuarantineOptions& options) {
  const std::vector<store::StrikeRecord> strikes =
      strikes_of(open_database(common, store::Store::Mode::read_only), options.kernel);
  if (common.json) {
    print_json(strikes);
    return 0;
  }
  Table table({{"kernel"},
               {"architecture"},
               {"strikes", Table::Align::right},
               {"state"},
               {"last"},
               {"configuration", Table::Align::left, Table::Place::below},
               {"reason", Table::Align::left, Table::Place::below}});
  for (const store::StrikeRecord& it : strikes) {
    table.add({it.kernel, it.architecture, std::to_string(it.strikes),
               it.strikes >= store::kStrikesToQuarantine ? "quarantined" : "on probation",
               it.last_at, it.config_json, it.reason.substr(0, it.reason.find('\n'))});
  }
  const Output output(common);
  if (table.is_empty()) {
    output.tell("no configuration has crashed or hung\n");
  } else {
    output.list(table);
  }
  return 0;
}

int clear(const CommonOptions& common, const QuarantineOptions& options) {
  store::ResultFilter filter;
  if (!options.kernel.empty()) filter.kernel = options.kernel;
  const std::size_t cleared =
      open_database(common, store::Store::Mode::read_write).clear_strikes(filter);
  if (common.json) {
    fmt::print("{}", json_text({{"schema", "tune.quarantine/1"}, {"cleared", cleared}}));
  } else {
    Output(common).tell("{} cleared\n", quantity::count(cleared, "configuration"));
  }
  return 0;
}

}  // namespace

int quarantine(const CommonOptions& common, const QuarantineOptions& options) {
  return options.action == "list" ? list(common, options) : clear(common, options);
}

}  // namespace tuner::cli
