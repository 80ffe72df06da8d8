// SPDX-License-Identifier: Apache-2.0
// What the space file says of one kernel's parameters, before any device or size is known.
#pragma once

#include "tuner/core/json.hpp"
#include "tuner/space/dimensions.hpp"
#include "tuner/space/expression.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

/// How a parameter reaches the kernel.
enum class ParameterKind {
  template_argument,  ///< "template": ${NAME} in the entry
  define,             ///< "define": -DNAME=value
  launch,             ///< "launch": geometry only, one compiled kernel serves all its values
  option,             ///< "option": an option of the compiler
};

/// One value of a parameter: the number that expressions see and the text that the kernel and the
/// user see ("64", "true", "xor").
struct ParameterValue {
  std::int64_t number = 0;
  std::string text;
};

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::template_argument;
  ValueKind value_kind = ValueKind::number;
  std::vector<ParameterValue> values;  ///< at least one, no duplicates, in the file's order
  std::size_t default_index = 0;       ///< into values
  /// Of the device and the dimensions alone: the default at a size on a device, where it gives one
  /// of `values`. Never with `when`.
  std::optional<Expression> default_at;
  std::string doc;
  std::string option;              ///< of kind option: "--maxrregcount"
  std::optional<Expression> when;  ///< false: the parameter takes its default
  std::size_t slot = 0;
};

/// A named value computed from parameters, sizes and device attributes.
struct Derived {
  std::string name;
  Expression expression;
  std::size_t slot = 0;
};

/// The parameters of a kernel and what ties them. ExpressionValues of `scope`: device attributes
/// (as "dev.<name>"), problem dimensions, parameters, derived values, in this order.
struct SpaceDefinition {
  Scope scope;
  Dimensions dims;
  std::vector<Parameter> parameters;
  std::vector<Derived> derived;
  std::vector<Constraint> constraints;

  /// The index of a parameter. Throws Error(usage) with a suggestion when there is none.
  [[nodiscard]] std::size_t parameter_index(std::string_view name) const;
};

/// The slots of device attributes and dimensions alone: the scope of the expressions that belong to
/// the whole family (flops, bytes, argument counts). A SpaceDefinition's scope begins with it.
[[nodiscard]] Scope family_scope(const Dimensions& dims);

/// Reads the keys `parameters`, `derived` and `constraints` of one kernel's object; other keys are
/// the caller's. `where` is what error messages begin with, e.g.
/// "spaces/gemm.json: kernels.gemm_shared". Throws Error(usage) on the first mistake.
[[nodiscard]] SpaceDefinition parse_space_definition(const Json& kernel, const Dimensions& dims,
                                                     std::string_view where);

}  // namespace tuner::space
