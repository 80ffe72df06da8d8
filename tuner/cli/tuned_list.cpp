// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/commands.hpp"
#include "tuner/cli/database.hpp"
#include "tuner/cli/format.hpp"
#include "tuner/cli/output.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/json.hpp"
#include "tuner/core/quantity.hpp"
#include "tuner/store/store.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>
#include <vector>

namespace tuner::cli {
namespace {

using Align = Table::Align;

std::optional<std::string> named(const std::string& option) {
  return option.empty() ? std::nullopt : std::optional(option);
}

Json result_json(const store::StoredBest& stored) {
  const store::BestRecord& best = stored.best;
  return {{"device", stored.subject->device.name},
          {"family", stored.subject->kernel.family},
          {"kernel", stored.subject->kernel.kernel},
          {"size", best.problem},
          {"cold_ns", best.time.median_ns},
          {"back_to_back_ns", number_or_null(best.sustained_ns)},
          {"ratio_to_library", number_or_null(best.ratio_to_library)},
          {"ratio_to_default", number_or_null(store::cold_gain(best))},
          {"verified", best.verified},
          {"recorded_at", best.recorded_at}};
}

std::string optional_time(const std::optional<double>& ns) {
  return ns ? quantity::time(*ns) : "–";
}

Table table_of(const std::vector<store::StoredBest>& bests) {
  Table table({{"kernel"},
               {"size"},
               {"device"},
               {"back to back", Align::right},
               {"vs library", Align::right},
               {"cold", Align::right},
               {"vs default, cold", Align::right},
               {"recorded"}});
  for (const store::StoredBest& stored : bests) {
    const store::BestRecord& best = stored.best;
    table.add({stored.subject->kernel.kernel, shown_size(best.problem), stored.subject->device.name,
               optional_time(best.sustained_ns), format_ratio(best.ratio_to_library),
               quantity::time(best.time.median_ns), format_ratio(store::cold_gain(best)),
               best.recorded_at.substr(0, 10) + (best.verified ? "" : ", imported")});
  }
  return table;
}

}  // namespace

int list_tuned(const CommonOptions& common, const QueryOptions& options) {
  const store::Store store = open_database(common, store::Store::Mode::read_only);
  std::vector<store::StoredBest> bests = store.bests({.device = named(options.device),
                                                      .family = named(options.family),
                                                      .kernel = named(options.kernel)});
  if (bests.empty()) {
    throw Error(
        ErrorCode::nothing_found,
        options.kernel.empty() && options.family.empty() && options.device.empty()
            ? fmt::format("{}: no size has a final round yet; `tune runs` lists the runs",
                          store.path().string())
            : fmt::format("{}: nothing is tuned for these options; `tune query` without options "
                          "lists all",
                          store.path().string()));
  }
  std::ranges::stable_sort(bests, {}, [](const store::StoredBest& stored) {
    return std::tie(stored.subject->device.name, stored.subject->kernel.family,
                    stored.subject->kernel.kernel, stored.best.flops, stored.best.bytes);
  });
  if (common.json) {
    Json document = {{"schema", "tune.tuned/1"}, {"results", Json::array()}};
    for (const store::StoredBest& stored : bests) {
      document["results"].push_back(result_json(stored));
    }
    fmt::print("{}", json_text(document));
    return 0;
  }
  Output(common).list(table_of(bests));
  return 0;
}

}  // namespace tuner::cli
