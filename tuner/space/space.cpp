// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/space.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/checked_product.hpp"
#include "tuner/space/enumeration.hpp"
#include "tuner/space/group.hpp"
#include "tuner/space/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <ranges>
#include <utility>

namespace tuner::space {

Space::Space(const Space&) = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;
Space::~Space() = default;

namespace {

/// Without a size, nothing that shapes the space may depend on one.
void refuse_dimensions(const Rules& rules) {
  const SpaceDefinition& definition = rules.definition();
  const std::size_t first = attribute_fields().size();
  const auto check = [&](const Expression& expression, std::string_view whole) {
    for (const std::size_t slot : expression.slots()) {
      if (slot < first || slot >= first + definition.dims.size()) continue;
      throw Error(ErrorCode::usage, fmt::format("'{}' depends on {}: give a problem size (--size)",
                                                whole, definition.dims[slot - first].name));
    }
  };
  for (const Rule& rule : rules.all()) {
    check(rule.condition, rule.condition.text());
    for (const std::size_t i : rule.derived) {
      check(definition.derived[i].expression, fmt::format("{} = {}", definition.derived[i].name,
                                                          definition.derived[i].expression.text()));
    }
  }
}

/// Counts a space under ever more of its constraints; components that a constraint leaves alone are
/// counted once.
class PrefixCounter {
 public:
  explicit PrefixCounter(const Rules& rules) : rules_(rules) {}

  std::uint64_t operator()(std::size_t last_stage) {
    for (const Rule& rule : rules_.all()) {
      if (rule.stage <= last_stage && rule.parameters == 0) return 0;
    }
    std::uint64_t product = 1;
    for (const Component& component : components(rules_, last_stage)) {
      auto [known, added] = counts_.try_emplace(component, 0);
      if (added) known->second = enumerate(rules_, component, limits_).size();
      if (known->second == 0) return 0;
      product = checked_product(product, known->second);
    }
    return product;
  }

 private:
  const Rules& rules_;
  std::map<Component, std::uint64_t> counts_;
  EnumerationLimits limits_;
};

}  // namespace

Space::Space(std::shared_ptr<const SpaceDefinition> definition, const DeviceAttributes& device,
             std::span<const std::int64_t> size)
    : BoundDefinition(std::move(definition), device, size) {
  const Rules rules(this->definition(), base());
  if (!has_size()) refuse_dimensions(rules);
  const auto& all = rules.all();
  const bool impossible =
      std::any_of(all.begin(), all.end(), [](const Rule& rule) { return rule.parameters == 0; });
  if (impossible) return;
  std::vector<Group> groups;
  EnumerationLimits limits;
  for (const Component& component : components(rules, this->definition().constraints.size())) {
    groups.push_back({enumerate(rules, component, limits), 1});
    if (groups.back().diagram.size() == 0) return;
  }
  size_ = 1;
  for (Group& group : std::views::reverse(groups)) {
    group.weight = size_;
    size_ = checked_product(size_, group.diagram.size());
  }
  groups_ = std::move(groups);
}

Space::Space(std::shared_ptr<const SpaceDefinition> definition, std::vector<Config> configs)
    : BoundDefinition(std::move(definition), {}, {}) {
  if (configs.empty()) return;
  std::ranges::sort(configs);
  configs.erase(std::ranges::unique(configs).begin(), configs.end());
  groups_.push_back({diagram_of(configs), 1});
  size_ = configs.size();
}

Config Space::at(std::uint64_t position) const {
  assert(position < size_);
  Config config{std::vector<std::uint32_t>(definition().parameters.size())};
  for (const Group& group : groups_) {
    group.diagram.place(position / group.weight, config);
    position %= group.weight;
  }
  return config;
}

std::optional<std::uint64_t> Space::position(const Config& config) const {
  if (size_ == 0 || config.choice.size() != definition().parameters.size()) return std::nullopt;
  std::uint64_t position = 0;
  for (const Group& group : groups_) {
    const auto path = group.diagram.find(config);
    if (!path) return std::nullopt;
    position += *path * group.weight;
  }
  return position;
}

Config Space::sample(std::mt19937_64& random) const {
  assert(size_ > 0);
  return at(std::uniform_int_distribution<std::uint64_t>(0, size_ - 1)(random));
}

Waterfall Space::waterfall() const {
  const Rules rules(definition(), base());
  PrefixCounter count_prefix(rules);
  Waterfall result;
  result.cartesian = cartesian();
  std::uint64_t left = count_prefix(0);
  result.collapsed = result.cartesian - left;
  for (std::size_t i = 0; i < definition().constraints.size(); ++i) {
    const bool is_last = i + 1 == definition().constraints.size();
    const std::uint64_t kept = is_last ? size_ : count_prefix(i + 1);
    const Constraint& constraint = definition().constraints[i];
    result.steps.push_back({constraint.expression.text(), constraint.why, left - kept, kept});
    left = kept;
  }
  return result;
}

}  // namespace tuner::space
