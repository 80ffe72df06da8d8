// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_costs.hpp"

#include "tuner/cli/table.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tuner::cli {
namespace {

using Align = Table::Align;

std::string seconds(double value) {
  return fmt::format("{:.1f} s", value);
}

nlohmann::json trial_cost_json(const session::TrialCost& cost) {
  return {{"trials", cost.trials}, {"compile_s", cost.compile_s}, {"device_s", cost.device_s}};
}

}  // namespace

std::string costs_text(std::span<const session::SizeCost> costs, const Terminal& terminal) {
  Table table({{"size"},
               {"trials", Align::right},
               {"shared", Align::right},
               {"compile", Align::right},
               {"device", Align::right},
               {"trials to 3 %", Align::right},
               {"time", Align::right},
               {"compile", Align::right},
               {"device", Align::right}});
  for (const session::SizeCost& cost : costs) {
    std::vector<std::string> row{cost.problem, fmt::format("{}", cost.all.trials),
                                 fmt::format("{}", cost.shared), seconds(cost.all.compile_s),
                                 seconds(cost.all.device_s)};
    if (const auto& near = cost.to_near_best) {
      row.insert(row.end(), {fmt::format("{}", near->trials), seconds(cost.elapsed_s),
                             seconds(near->compile_s), seconds(near->device_s)});
    } else {
      row.insert(row.end(), 4, "–");
    }
    table.add(std::move(row));
  }
  return table.text(terminal) +
         "  shared: trials that reused a compiled kernel; compile: summed over all compilers;\n  "
         "the last four, to 3 %: until a trial was within 3 % of the run's best at the size; time: "
         "wall time "
         "since the first trial\n";
}

nlohmann::json costs_json(std::span<const session::SizeCost> costs) {
  nlohmann::json list = nlohmann::json::array();
  for (const session::SizeCost& cost : costs) {
    nlohmann::json size = trial_cost_json(cost.all);
    size["size"] = cost.problem;
    size["shared_compilations"] = cost.shared;
    if (cost.to_near_best) {
      size["to_within_3_percent"] = trial_cost_json(*cost.to_near_best);
      size["to_within_3_percent"]["elapsed_s"] = cost.elapsed_s;
    }
    list.push_back(std::move(size));
  }
  return list;
}

}  // namespace tuner::cli
