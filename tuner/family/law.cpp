// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/law.hpp"

#include "tuner/family/element_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tuner::family {
namespace {

constexpr std::array<std::pair<Law, std::string_view>, 10> kLawNames = {{
    {Law::zeros, "zeros"},
    {Law::magnitudes, "magnitudes"},
    {Law::offsets, "offsets"},
    {Law::outliers, "outliers"},
    {Law::equal, "equal"},
    {Law::negative, "negative"},
    {Law::small, "small"},
    {Law::wide, "wide"},
    {Law::shared, "shared"},
    {Law::runs, "runs"},
}};

bool makes_equal(Law law) {
  return law == Law::zeros || law == Law::equal || law == Law::shared || law == Law::runs;
}

bool is_possible(Law law, const InputFill& fill, ElementType type) {
  using enum FillKind;
  switch (fill.kind) {
    case normal:
      return law != Law::negative || is_floating(type) || integer_range(type).least < 0;
    case uniform:
    case between:
      return law != Law::negative;
    case positive:
      return law != Law::negative && law != Law::zeros;
    case integers:
    case csr_offsets:
      return law != Law::shared || fill.kind == integers;
    case sorted:
      return law != Law::outliers && law != Law::shared && law != Law::negative;
    case constant:
      return (law == Law::magnitudes || law == Law::offsets) && is_floating(type);
    case values:
      // Whole numbers that a file gives may be sizes or places.
      return law == Law::magnitudes && is_floating(type);
    case permutation:
    case copy:
    case npy:
      return false;
  }
  return false;
}

}  // namespace

const std::vector<Law>& all_laws() {
  static const std::vector<Law> laws = [] {
    std::vector<Law> all;
    for (const auto& [law, name] : kLawNames) all.push_back(law);
    return all;
  }();
  return laws;
}

std::string_view name(Law law) {
  return kLawNames[static_cast<std::size_t>(law)].second;
}

std::optional<Law> law(std::string_view name) {
  const auto* const found =
      std::ranges::find(kLawNames, name, &std::pair<Law, std::string_view>::second);
  return found == kLawNames.end() ? std::nullopt : std::optional(found->first);
}

std::vector<Law> laws_of(const InputFill& fill, ElementType type, bool continuous) {
  std::vector<Law> laws;
  for (const Law law : all_laws()) {
    if (std::ranges::count(fill.excluded_laws, law) > 0) continue;
    if (continuous && makes_equal(law)) continue;
    if (is_possible(law, fill, type)) laws.push_back(law);
  }
  return laws;
}

}  // namespace tuner::family
