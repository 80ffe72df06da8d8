// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/explain.hpp"

#include "tuner/core/error.hpp"
#include "tuner/space/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tuner::space {
namespace {

/// The values of a configuration, as far as they can be computed.
class Values {
 public:
  Values(const SpaceDefinition& definition, ExpressionValues base, const Config& config)
      : definition_(definition), config_(config), values_(std::move(base)) {
    for (std::size_t i = 0; i < definition_.parameters.size(); ++i) {
      const Parameter& parameter = definition_.parameters[i];
      values_[parameter.slot] = parameter.values[config.choice[i]].number;
    }
    for (const Derived& derived : definition_.derived) {
      if (const auto value = evaluate(derived.expression)) {
        values_[derived.slot] = *value;
      } else {
        faults_.emplace(derived.slot, value.error());
      }
    }
  }

  /// A derived value that has none makes an expression that mentions it have none either.
  Expected<std::int64_t, Fault> evaluate(const Expression& expression) const {
    if (faults_.empty()) return expression.evaluate(values_);
    for (const std::size_t slot : expression.slots()) {
      const auto fault = faults_.find(slot);
      if (fault != faults_.end()) return Unexpected(fault->second);
    }
    return expression.evaluate(values_);
  }

  const std::map<std::size_t, Fault>& faults() const { return faults_; }
  ExpressionValues all() && { return std::move(values_); }

  /// "BK=8, VEC=4, THREADS=256": what an expression sees.
  std::string seen_by(const Expression& expression) const {
    const std::vector<std::string> names = definition_.scope.names();
    std::string text;
    for (const std::size_t slot : expression.slots()) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", names[slot], shown(slot));
    }
    return text;
  }

 private:
  std::string shown(std::size_t slot) const {
    if (const auto fault = faults_.find(slot); fault != faults_.end()) {
      return fmt::format("({})", name(fault->second));
    }
    for (std::size_t i = 0; i < definition_.parameters.size(); ++i) {
      const Parameter& parameter = definition_.parameters[i];
      if (parameter.slot == slot) return parameter.values[config_.choice[i]].text;
    }
    const std::size_t first = attribute_fields().size();
    if (slot >= first && slot - first < definition_.dims.size()) {
      return definition_.dims[slot - first].text_of(values_[slot]);
    }
    return std::to_string(values_[slot]);
  }

  const SpaceDefinition& definition_;
  const Config& config_;
  ExpressionValues values_;
  std::map<std::size_t, Fault> faults_;  // by slot, of derived values
};

}  // namespace

ExpressionValues evaluate_values(const SpaceDefinition& definition, ExpressionValues base,
                                 const Config& config) {
  Values values(definition, std::move(base), config);
  if (values.faults().empty()) return std::move(values).all();
  const auto [slot, fault] = *values.faults().begin();
  const auto derived =
      std::find_if(definition.derived.begin(), definition.derived.end(),
                   [slot = slot](const Derived& candidate) { return candidate.slot == slot; });
  throw Error(ErrorCode::usage,
              fmt::format("the derived value {} = {} cannot be computed: {} ({}); add a constraint "
                          "that excludes such configurations",
                          derived->name, derived->expression.text(), name(fault),
                          values.seen_by(derived->expression)));
}

std::optional<Violation> find_violation(const SpaceDefinition& definition, ExpressionValues base,
                                        const Config& config) {
  const Values values(definition, std::move(base), config);
  for (std::size_t i = 0; i < definition.constraints.size(); ++i) {
    const Constraint& constraint = definition.constraints[i];
    const auto value = values.evaluate(constraint.expression);
    if (value && *value != 0) continue;
    const std::string fault = value ? "" : fmt::format("; {}", name(value.error()));
    return Violation{i, fmt::format("{} ({}): {}{}", constraint.expression.text(), constraint.why,
                                    values.seen_by(constraint.expression), fault)};
  }
  return std::nullopt;
}

}  // namespace tuner::space
