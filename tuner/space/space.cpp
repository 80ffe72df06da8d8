// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/space.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/checked_product.hpp"
#include "tuner/space/enumeration.hpp"
#include "tuner/space/group.hpp"
#include "tuner/space/rules.hpp"
#include "tuner/space/shared_diagrams.hpp"
#include "tuner/space/term.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// All that the diagram of a component depends on, for one definition and device. Equal rules of
/// different sizes have equal contents.
std::string content(const Rules& rules, const Component& component) {
  std::string text = fmt::format("{:x}", component.parameters);
  Terms all(rules.definition());
  std::vector<TermId> wanted;
  for (const Rule* rule : component.rules) {
    text += fmt::format(";{:x} {:a} ", rule->parameters, rule->selectivity);
    text.append(rule->table.begin(), rule->table.end());
    if (!rule->table.empty()) continue;
    const std::vector<TermId> of_rule = conditions(all, rules, *rule);
    wanted.insert(wanted.end(), of_rule.begin(), of_rule.end());
  }
  const Terms terms = needed(all, wanted);
  text += fmt::format(";{}", fmt::join(wanted, ","));
  for (TermId id = 0; id < terms.size(); ++id) {
    const Term& term = terms[id];
    text +=
        fmt::format(";{} {} {} {}", static_cast<int>(term.kind), static_cast<int>(term.operation),
                    term.number, fmt::join(term.operands, ","));
  }
  return text;
}

/// The diagrams of a space's components, by way of what the spaces of other sizes share.
class Finder {
 public:
  Finder(const Rules& rules, SharedDiagrams& shared) : rules_(rules), shared_(shared) {}

  Diagram operator()(const Component& component) {
    const DividedComponent divided = space::divided(component);
    std::vector<std::shared_ptr<const Diagram>> parts;
    try {
      for (const Component& part : divided.parts) {
        // More than this is not worth while for one size.
        EnumerationLimits limits{.operations = std::uint64_t{1} << 24};
        parts.push_back(find("part", part, limits));
      }
    } catch (const Error&) {
      // The rules that read extents may leave less.
      return *find("whole", component, limits_);
    }
    if (divided.rest.rules.empty()) return *parts.front();
    // Rules are decided early where the parameters that only they tie come first.
    std::ranges::stable_sort(parts, {}, [](const auto& part) { return part->edge_count(); });
    std::vector<const Diagram*> known;
    for (const auto& part : parts) known.push_back(part.get());
    return narrowed(rules_, divided.rest, known, limits_);
  }

 private:
  /// `what` tells diagrams apart that are looked for within other limits: what one size finds must
  /// not depend on the sizes before it.
  std::shared_ptr<const Diagram> find(std::string_view what, const Component& component,
                                      EnumerationLimits& limits) {
    return shared_.find(fmt::format("{} {}", what, content(rules_, component)), [&] {
      return std::make_shared<const Diagram>(enumerate(rules_, component, limits));
    });
  }

  const Rules& rules_;
  SharedDiagrams& shared_;
  EnumerationLimits limits_;
};

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
    : Space(std::move(definition), device, size, *std::make_unique<SharedDiagrams>()) {}

Space::Space(std::shared_ptr<const SpaceDefinition> definition, const DeviceAttributes& device,
             std::span<const std::int64_t> size, SharedDiagrams& shared)
    : BoundDefinition(std::move(definition), device, size) {
  const Rules rules(this->definition(), base());
  if (!has_size()) refuse_dimensions(rules);
  const auto& all = rules.all();
  const bool impossible =
      std::any_of(all.begin(), all.end(), [](const Rule& rule) { return rule.parameters == 0; });
  if (impossible) return;
  std::vector<Group> groups;
  Finder find(rules, shared);
  for (const Component& component : components(rules, this->definition().constraints.size())) {
    groups.push_back({find(component), 1});
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
