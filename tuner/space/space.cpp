// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/space.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/enumeration.hpp"
#include "tuner/space/explain.hpp"
#include "tuner/space/group.hpp"
#include "tuner/space/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <ranges>
#include <stdexcept>
#include <utility>

namespace tuner::space {

Space::Space(const Space&) = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;
Space::~Space() = default;

namespace {

std::uint64_t checked_product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    throw Error(ErrorCode::usage,
                "the space has more than 2^64 configurations; give its parameters fewer values");
  }
  return result;
}

ExpressionValues make_base(const SpaceDefinition& definition, const DeviceAttributes& device,
                           std::span<const std::int64_t> size) {
  if (!size.empty() && size.size() != definition.dims.size()) {
    throw std::invalid_argument("a size needs one number for every dimension");
  }
  ExpressionValues base;
  for (const AttributeField& field : attribute_fields()) base.push_back(device.*field.member);
  base.insert(base.end(), size.begin(), size.end());
  base.resize(definition.scope.size());
  return base;
}

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
      if (added) known->second = enumerate(rules_, component).size();
      if (known->second == 0) return 0;
      product = checked_product(product, known->second);
    }
    return product;
  }

 private:
  const Rules& rules_;
  std::map<Component, std::uint64_t> counts_;
};

}  // namespace

Space::Space(std::shared_ptr<const SpaceDefinition> definition, const DeviceAttributes& device,
             std::span<const std::int64_t> size)
    : definition_(std::move(definition)),
      base_(make_base(*definition_, device, size)),
      sized_(size.size() == definition_->dims.size()) {
  const Rules rules(*definition_, base_);
  if (!sized_) refuse_dimensions(rules);
  const auto& all = rules.all();
  const bool impossible =
      std::any_of(all.begin(), all.end(), [](const Rule& rule) { return rule.parameters == 0; });
  if (impossible) return;
  std::vector<Group> groups;
  for (const Component& component : components(rules, definition_->constraints.size())) {
    groups.push_back({enumerate(rules, component), 1});
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
    : definition_(std::move(definition)), base_(make_base(*definition_, {}, {})) {
  if (configs.empty()) return;
  std::ranges::sort(configs);
  configs.erase(std::ranges::unique(configs).begin(), configs.end());
  groups_.push_back({diagram_of(configs), 1});
  size_ = configs.size();
}

Config Space::at(std::uint64_t position) const {
  assert(position < size_);
  Config config{std::vector<std::uint32_t>(definition_->parameters.size())};
  for (const Group& group : groups_) {
    group.diagram.place(position / group.weight, config);
    position %= group.weight;
  }
  return config;
}

std::optional<std::uint64_t> Space::position(const Config& config) const {
  if (size_ == 0 || config.choice.size() != definition_->parameters.size()) return std::nullopt;
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

Config Space::default_config() const {
  Config config;
  for (const Parameter& parameter : definition_->parameters) {
    config.choice.push_back(static_cast<std::uint32_t>(parameter.default_index));
  }
  return config;
}

std::optional<Violation> Space::violation(const Config& config) const {
  return find_violation(*definition_, base_, config);
}

Config Space::canonical(const Config& config) const {
  Config result = config;
  ExpressionValues slots = base_;
  // A `when` reads only parameters declared before it, so one pass is enough.
  for (std::size_t p = 0; p < definition_->parameters.size(); ++p) {
    const Parameter& parameter = definition_->parameters[p];
    if (parameter.when) {
      const auto active = parameter.when->evaluate(slots);
      if (!active || *active == 0) {
        result.choice[p] = static_cast<std::uint32_t>(parameter.default_index);
      }
    }
    slots[parameter.slot] = parameter.values[result.choice[p]].number;
  }
  return result;
}

ExpressionValues Space::expression_values(const Config& config) const {
  if (!sized_) {
    throw Error(ErrorCode::usage, "the values of a configuration need a problem size (--size)");
  }
  return evaluate_values(*definition_, base_, config);
}

std::uint64_t Space::cartesian() const {
  std::uint64_t product = 1;
  for (const Parameter& parameter : definition_->parameters) {
    product = checked_product(product, parameter.values.size());
  }
  return product;
}

Waterfall Space::waterfall() const {
  const Rules rules(*definition_, base_);
  PrefixCounter count_prefix(rules);
  Waterfall result;
  result.cartesian = cartesian();
  std::uint64_t left = count_prefix(0);
  result.collapsed = result.cartesian - left;
  for (std::size_t i = 0; i < definition_->constraints.size(); ++i) {
    const std::uint64_t kept = count_prefix(i + 1);
    const Constraint& constraint = definition_->constraints[i];
    result.steps.push_back({constraint.expression.text(), constraint.why, left - kept, kept});
    left = kept;
  }
  return result;
}

}  // namespace tuner::space
