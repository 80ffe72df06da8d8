// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/coverage.hpp"

#include "tuner/cli/opened_device.hpp"
#include "tuner/cli/sizes.hpp"
#include "tuner/core/quantity.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <variant>

namespace tuner::cli {

std::optional<verify::Coverage> reference_coverage(const family::Family& family,
                                                   const DeviceOptions& options,
                                                   const std::string& size, std::uint64_t seed) {
  if (!std::holds_alternative<family::KernelReference>(family.check.reference)) return std::nullopt;
  OpenedDevice opened(options, family, seed);
  TuneOptions sizes;
  if (!size.empty()) sizes.sizes = {size};
  const std::string& backend = opened.device().device().backend;
  return opened.device().reference_coverage(chosen_sizes(family, sizes, backend).front());
}

std::vector<std::string> coverage_warning(const verify::Coverage& coverage, std::size_t most) {
  if (!coverage.problem.empty()) {
    return {fmt::format("what the checks reach of the reference kernel is not known: {}",
                        coverage.problem)};
  }
  if (coverage.gaps.empty()) return {};
  const std::size_t shown = std::min(most, coverage.gaps.size());
  std::vector<std::string> lines = {fmt::format(
      "no check reached {} of the reference kernel, so no candidate is checked there{}",
      quantity::count(coverage.gaps.size(), "part"),
      shown < coverage.gaps.size() ? "; `tune space check --coverage FILE` lists all" : "")};
  for (std::size_t i = 0; i < shown; ++i) {
    lines.push_back("  " + verify::sentence(coverage.gaps[i]));
  }
  return lines;
}

Json coverage_json(const verify::Coverage& coverage) {
  Json gaps = Json::array();
  for (const verify::CoverageGap& gap : coverage.gaps) {
    gaps.push_back({{"file", gap.file},
                    {"line", gap.line},
                    {"text", gap.text},
                    {"within", gap.within},
                    {"unseen", std::string(name(gap.unseen))},
                    {"advice", gap.advice}});
  }
  return {{"conditions", coverage.conditions},
          {"gaps", std::move(gaps)},
          {"problem", coverage.problem}};
}

}  // namespace tuner::cli
