// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/run_costs.hpp"

#include "tuner/cli/sizes.hpp"
#include "tuner/cli/table.hpp"
#include "tuner/core/printable.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace tuner::cli {
namespace {

using Align = Table::Align;

std::string seconds(double value) {
  return fmt::format("{:.1f} s", value);
}

nlohmann::json trial_cost_json(const session::TrialCost& cost) {
  return {{"trials", cost.trials}, {"compile_s", cost.compile_s}, {"device_s", cost.device_s}};
}

/// The cards that sizes were won on, each with a number in the order of their first sizes.
class WinningCards {
 public:
  explicit WinningCards(const std::vector<store::CardRecord>& cards)
      : last_(store::last_cards(cards)) {
    for (const store::CardRecord& card : cards) {
      const bool counts = last_.at(card.problem).uuid == card.uuid;
      if (counts && std::ranges::find(uuids_, card.uuid) == uuids_.end()) {
        uuids_.push_back(card.uuid);
        places_.push_back(card.job.empty() ? card.host
                                           : fmt::format("{}, job {}", card.host, card.job));
      }
    }
  }

  [[nodiscard]] bool are_several() const { return uuids_.size() > 1; }
  [[nodiscard]] std::string number(const std::string& problem) const {
    const auto found = last_.find(problem);
    if (found == last_.end()) return "–";
    return fmt::format("{}", std::ranges::find(uuids_, found->second.uuid) - uuids_.begin());
  }
  /// A line for each.
  [[nodiscard]] std::string legend() const {
    std::string text;
    for (std::size_t i = 0; i < uuids_.size(); ++i) {
      const auto won = std::ranges::count_if(
          last_, [&](const auto& size) { return size.second.uuid == uuids_[i]; });
      text +=
          fmt::format("  card {}: {} ({}), {}\n", i, printable(uuids_[i]), printable(places_[i]),
                      quantity::count(static_cast<std::uint64_t>(won), "size"));
    }
    return text;
  }

 private:
  std::map<std::string, store::CardRecord> last_;
  std::vector<std::string> uuids_, places_;
};

}  // namespace

std::string costs_text(std::span<const session::SizeCost> costs,
                       const std::vector<store::CardRecord>& cards, const Terminal& terminal) {
  const WinningCards winning(cards);
  std::vector<Table::Column> columns = {{"size"},
                                        {"trials", Align::right},
                                        {"shared", Align::right},
                                        {"compile", Align::right},
                                        {"device", Align::right},
                                        {"within 3 %", Align::right},
                                        {"time", Align::right},
                                        {"compile", Align::right},
                                        {"device", Align::right}};
  if (winning.are_several()) columns.push_back({"card", Align::right});
  Table table(columns);
  for (const session::SizeCost& cost : costs) {
    std::vector<std::string> row{shown_size(cost.problem), fmt::format("{}", cost.all.trials),
                                 fmt::format("{}", cost.shared), seconds(cost.all.compile_s),
                                 seconds(cost.all.device_s)};
    if (const auto& near = cost.to_near_best) {
      row.insert(row.end(), {fmt::format("{}", near->trials), seconds(cost.elapsed_s),
                             seconds(near->compile_s), seconds(near->device_s)});
    } else {
      row.insert(row.end(), 4, "–");
    }
    if (winning.are_several()) row.push_back(winning.number(cost.problem));
    table.add(std::move(row));
  }
  return table.text(terminal) + (winning.are_several() ? winning.legend() : "") +
         "  shared: trials that reused a compiled kernel; compile: summed over all compilers; the "
         "last "
         "four: until a trial was within 3 % of the run's best at the size; time: wall time since "
         "the "
         "first trial\n";
}

nlohmann::json costs_json(std::span<const session::SizeCost> costs,
                          const std::vector<store::CardRecord>& cards) {
  const auto last = store::last_cards(cards);
  nlohmann::json list = nlohmann::json::array();
  for (const session::SizeCost& cost : costs) {
    nlohmann::json size = trial_cost_json(cost.all);
    size["size"] = cost.problem;
    size["shared_compilations"] = cost.shared;
    if (const auto card = last.find(cost.problem); card != last.end()) {
      size["card"] = {
          {"uuid", card->second.uuid}, {"host", card->second.host}, {"job", card->second.job}};
    }
    if (cost.to_near_best) {
      size["to_within_3_percent"] = trial_cost_json(*cost.to_near_best);
      size["to_within_3_percent"]["elapsed_s"] = cost.elapsed_s;
    }
    list.push_back(std::move(size));
  }
  return list;
}

}  // namespace tuner::cli
