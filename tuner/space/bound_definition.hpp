// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/definition.hpp"
#include "tuner/space/device.hpp"

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tuner::space {

/// One configuration: for every parameter, in the order of the space file, the index of its value.
struct Config {
  std::vector<std::uint32_t> choice;
  auto operator<=>(const Config&) const = default;
};

/// What an expression of a kernel is evaluated on: one number for each slot of its scope.
using ExpressionValues = std::vector<std::int64_t>;

/// Why a configuration is not in the space.
struct Violation {
  std::size_t constraint = 0;  ///< index into the definition's constraints
  std::string message;         ///< the constraint, its reason, and the values it saw
};

/// A definition bound to a device and a problem size. It answers questions about given
/// configurations and enumerates none, so that it costs microseconds where a Space may cost a
/// second. A constraint that mentions a derived value that cannot be computed is broken.
class BoundDefinition {
 public:
  /// `size` gives a number for every dimension, or is empty when none is known yet.
  BoundDefinition(std::shared_ptr<const SpaceDefinition> definition, const DeviceAttributes& device,
                  std::span<const std::int64_t> size);

  [[nodiscard]] const SpaceDefinition& definition() const { return *definition_; }

  /// Number of configurations without any constraint: the product of the numbers of values. Throws
  /// Error(usage) when it leaves 64 bits.
  [[nodiscard]] std::uint64_t cartesian() const;

  /// The default of each parameter on the device at the size.
  [[nodiscard]] Config default_config() const;
  /// The first constraint that a configuration breaks, in file order; none when it is valid.
  /// `when` is applied by `canonical`, not here.
  [[nodiscard]] std::optional<Violation> violation(const Config& config) const;
  /// A configuration with inactive parameters set to their defaults.
  [[nodiscard]] Config canonical(const Config& config) const;
  /// Whether the Space has this configuration: it is canonical and breaks no constraint.
  [[nodiscard]] bool contains(const Config& config) const;

  /// The values for evaluating the kernel's other expressions on a configuration. A derived value
  /// that cannot be computed (division by zero, say) throws Error(usage), as a missing size does.
  [[nodiscard]] ExpressionValues expression_values(const Config& config) const;

 protected:
  [[nodiscard]] const ExpressionValues& base() const { return base_; }
  [[nodiscard]] bool has_size() const { return has_size_; }

 private:
  std::shared_ptr<const SpaceDefinition> definition_;
  ExpressionValues base_;  // device attributes and dimensions; parameters and derived unset
  bool has_size_ = false;
};

}  // namespace tuner::space
