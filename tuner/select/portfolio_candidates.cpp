// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/portfolio_candidates.hpp"

#include "tuner/core/quantity.hpp"
#include "tuner/select/modelled.hpp"
#include "tuner/select/portfolio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tuner::select {
namespace {

/// Where a configuration was timed nearest, of the sizes of this kind of problem.
struct NearTiming {
  Nearness nearness;
  const Timing* timing = nullptr;
};

std::optional<NearTiming> near_timing(const AskedKernel& asked, const KnownConfig& config) {
  std::optional<NearTiming> nearest;
  for (const Timing& timing : config.timings) {
    auto there = nearness(asked.size->numbers, asked.kernel->sizes[timing.size].numbers,
                          asked.kernel->stored->dims());
    if (!there || (nearest && !(*there < nearest->nearness))) continue;
    nearest = NearTiming{.nearness = *std::move(there), .timing = &timing};
  }
  return nearest;
}

/// Lets only the members of a portfolio answer.
void restrict_to_members(std::vector<AskedKernel>& asked, const store::PortfolioRecord& portfolio) {
  for (AskedKernel& it : asked) {
    it.only.emplace();
    for (std::size_t config = 0; config < it.kernel->configs.size(); ++config) {
      const bool is_member = std::ranges::any_of(portfolio.members, [&](const auto& member) {
        return member.kernel == it.kernel->record->kernel &&
               member.config_json == it.kernel->configs[config].json;
      });
      if (is_member) it.only->push_back(config);
    }
  }
}

/// Members of kernels without a cost model: by their times at the nearest size that was timed.
std::vector<NearCandidate> by_nearest_times(const std::vector<AskedKernel>& asked,
                                            const space::DeviceAttributes& device) {
  struct TimedMember {
    NearCandidate candidate;
    double ns;
  };
  std::vector<TimedMember> timed;
  for (const AskedKernel& it : asked) {
    if (!it.kernel->stored || !it.size) continue;
    const space::BoundDefinition at = it.kernel->stored->at(device, it.size->numbers);
    for (const std::size_t config : *it.only) {
      const KnownConfig& known = it.kernel->configs[config];
      auto near = near_timing(it, known);
      if (!near || why_rejected(*it.kernel->stored, at, it.size->text, known)) continue;
      timed.push_back({.candidate = {.asked = &it,
                                     .config = config,
                                     .entry = nullptr,
                                     .nearness = std::move(near->nearness)},
                       .ns = near->timing->ns});
    }
  }
  std::ranges::stable_sort(timed, [](const TimedMember& a, const TimedMember& b) {
    if (a.candidate.nearness.size == b.candidate.nearness.size) return a.ns < b.ns;
    return a.candidate.nearness < b.candidate.nearness;
  });
  std::vector<NearCandidate> candidates;
  for (TimedMember& it : timed) candidates.push_back(std::move(it.candidate));
  return candidates;
}

}  // namespace

const store::PortfolioRecord* portfolio_for(const Catalogue& catalogue, std::string_view family,
                                            const std::vector<AskedKernel>& asked) {
  const auto known = std::ranges::find_if(
      asked, [](const AskedKernel& it) { return it.kernel->stored && it.size; });
  if (known == asked.end()) return nullptr;
  const std::string types = types_of(known->size->numbers, known->kernel->stored->dims());
  const auto found = std::ranges::find_if(
      catalogue.portfolios,
      [&](const store::PortfolioRecord& it) { return it.family == family && it.types == types; });
  return found == catalogue.portfolios.end() ? nullptr : &*found;
}

Nearest portfolio_candidates(std::vector<AskedKernel>& asked, const space::DeviceAttributes& device,
                             const store::PortfolioRecord& portfolio) {
  restrict_to_members(asked, portfolio);
  auto modelled = modelled_candidates(asked, device);
  Nearest found = modelled ? *std::move(modelled) : Nearest{};
  if (!modelled) found.candidates = by_nearest_times(asked, device);
  found.explanation.insert(
      found.explanation.begin(),
      fmt::format("{} of the {} of the portfolio of {} are valid here and were timed for this kind "
                  "of problem",
                  found.candidates.size(), quantity::count(portfolio.members.size(), "member"),
                  portfolio.recorded_at));
  if (found.candidates.empty()) {
    for (AskedKernel& it : asked) it.only.reset();
  }
  return found;
}

}  // namespace tuner::select
