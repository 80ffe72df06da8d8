// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/bound_definition.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/checked_product.hpp"
#include "tuner/space/explain.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tuner::space {
namespace {

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

/// Of a parameter, by the device and the size that `values` begin with.
std::size_t default_index(const Parameter& parameter, const ExpressionValues& values) {
  const auto wanted = parameter.default_at->evaluate(values);
  if (!wanted) return parameter.default_index;
  const auto found = std::ranges::find(parameter.values, *wanted, &ParameterValue::number);
  if (found == parameter.values.end()) return parameter.default_index;
  return static_cast<std::size_t>(found - parameter.values.begin());
}

}  // namespace

BoundDefinition::BoundDefinition(std::shared_ptr<const SpaceDefinition> definition,
                                 const DeviceAttributes& device, std::span<const std::int64_t> size)
    : definition_(std::move(definition)),
      base_(make_base(*definition_, device, size)),
      has_size_(size.size() == definition_->dims.size()) {}

Config BoundDefinition::default_config() const {
  Config config;
  for (const Parameter& parameter : definition_->parameters) {
    const bool is_fixed = !parameter.default_at || !has_size_;
    config.choice.push_back(static_cast<std::uint32_t>(is_fixed ? parameter.default_index
                                                                : default_index(parameter, base_)));
  }
  return config;
}

std::optional<Violation> BoundDefinition::violation(const Config& config) const {
  return find_violation(*definition_, base_, config);
}

Config BoundDefinition::canonical(const Config& config) const {
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

bool BoundDefinition::contains(const Config& config) const {
  return config.choice.size() == definition_->parameters.size() && !violation(config) &&
         canonical(config) == config;
}

ExpressionValues BoundDefinition::expression_values(const Config& config) const {
  if (!has_size_) {
    throw Error(ErrorCode::usage, "the values of a configuration need a problem size (--size)");
  }
  return evaluate_values(*definition_, base_, config);
}

std::uint64_t BoundDefinition::cartesian() const {
  std::uint64_t product = 1;
  for (const Parameter& parameter : definition_->parameters) {
    product = checked_product(product, parameter.values.size());
  }
  return product;
}

}  // namespace tuner::space
