// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/portfolio_winners.hpp"

#include "tuner/core/error.hpp"
#include "tuner/select/portfolio.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

namespace tuner::cli {
namespace {

/// The fastest configuration of each tuned size of the portfolio's types, those that gain most over
/// the library first. A configuration is left out if its kernel has changed since, the space no
/// longer has it, or the library was faster.
std::vector<store::PortfolioMember> winners_for(const store::PortfolioRecord& portfolio,
                                                const family::Family& family,
                                                std::vector<store::StoredBest> bests) {
  std::erase_if(bests, [&](const store::StoredBest& it) {
    const auto size = space::stored_size(it.best.problem, family.problem.dims);
    return !size || select::types_of(*size, family.problem.dims) != portfolio.types;
  });
  std::ranges::stable_sort(bests, {},
                           [](const store::StoredBest& it) { return store::ranking_ns(it.best); });
  std::set<std::string> problems;
  std::erase_if(
      bests, [&](const store::StoredBest& it) { return !problems.insert(it.best.problem).second; });
  const auto gain = [](const store::StoredBest& it) {
    return it.best.ratio_to_library.value_or(1);
  };
  std::ranges::stable_sort(bests, std::greater(), gain);
  std::vector<store::PortfolioMember> winners;
  for (const store::StoredBest& it : bests) {
    const store::KernelRecord& tuned = it.subject->kernel;
    const auto kernel = std::ranges::find(family.kernels, tuned.kernel, &family::Kernel::name);
    if (gain(it) < 1 || kernel == family.kernels.end() || kernel->hash != tuned.hash) continue;
    try {
      static_cast<void>(space::config_from_json(*kernel->space, it.best.config_json));
    } catch (const Error&) {  // a value that the space no longer has
      continue;
    }
    winners.push_back({tuned.kernel, tuned.hash, it.best.config_json});
  }
  return winners;
}

}  // namespace

void add_winners(std::vector<store::PortfolioRecord>& portfolios, const family::Family& family,
                 std::span<const family::WeightedSize> sizes, const store::Store& store,
                 const space::DeviceInfo& device, std::uint64_t members) {
  const auto is_full = [&](const store::PortfolioRecord& it) {
    return it.members.size() >= members;
  };
  if (std::ranges::all_of(portfolios, is_full)) {
    throw Error(ErrorCode::usage,
                fmt::format("-k {}: every portfolio has as many members already: write a larger "
                            "number, or leave out -k to add none",
                            members));
  }
  std::set<std::string> types;
  for (const family::WeightedSize& it : sizes) {
    types.insert(select::types_of(it.size, family.problem.dims));
  }
  const std::vector<store::StoredBest> bests =
      store.bests({.device = device.name, .family = family.name});
  for (store::PortfolioRecord& portfolio : portfolios) {
    if (!types.contains(portfolio.types)) continue;
    for (store::PortfolioMember& it : winners_for(portfolio, family, bests)) {
      if (is_full(portfolio)) break;
      if (std::ranges::count(portfolio.members, it) == 0)
        portfolio.members.push_back(std::move(it));
    }
  }
}

}  // namespace tuner::cli
