// SPDX-License-Identifier: Apache-2.0
// The dimensions of a family's problem: which numbers make a size.
#pragma once

#include "tuner/core/element_type.hpp"
#include "tuner/core/expected.hpp"
#include "tuner/core/json.hpp"
#include "tuner/space/expression.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::space {

/// The largest number of a size: 2^31 - 1.
inline constexpr std::int64_t kLargestDimension = std::numeric_limits<std::int32_t>::max();

/// A problem size: one number for every dimension of the family, in its order.
using Size = std::vector<std::int64_t>;

/// What must hold, and why.
struct Constraint {
  Expression expression;
  std::string why;
};

struct Dimension {
  std::string name;
  /// Where a size does not name it: of the dimensions before it. Absent: every size names it.
  std::optional<Expression> default_value = {};
  std::vector<std::int64_t> values = {};  ///< all that it may be; empty: 1 … 2^31-1
  /// Of a dimension of types: what each value is called, and the element types that it means by
  /// their names, such as "A": one for each value.
  std::vector<std::string> value_names = {};
  std::map<std::string, std::vector<ElementType>> types = {};
  std::string doc = {};

  /// Whether its values are kinds of problem, such as layouts, rather than extents: sizes of
  /// different kinds are not near each other.
  [[nodiscard]] bool is_kind() const { return !values.empty(); }
  /// A value as sizes are written: its name where it has one.
  [[nodiscard]] std::string text_of(std::int64_t value) const;
  /// The value of a name; none when there is none of this name.
  [[nodiscard]] std::optional<std::int64_t> value_of(std::string_view wanted) const;
};

/// The dimensions of a problem in the order of the space file, those that every size names first.
class Dimensions {
 public:
  Dimensions() = default;
  /// Dimensions that every size names.
  Dimensions(std::initializer_list<std::string> names) : Dimensions(std::vector(names)) {}
  explicit Dimensions(const std::vector<std::string>& names);
  /// Defaults and constraints read the numbers of a size by position.
  Dimensions(std::vector<Dimension> dimensions, std::vector<Constraint> constraints);

  [[nodiscard]] std::size_t size() const { return dimensions_.size(); }
  [[nodiscard]] const Dimension& operator[](std::size_t i) const { return dimensions_[i]; }
  [[nodiscard]] auto begin() const { return dimensions_.begin(); }
  [[nodiscard]] auto end() const { return dimensions_.end(); }

  [[nodiscard]] std::vector<std::string> names() const;
  /// How many of them every size names.
  [[nodiscard]] std::size_t required() const { return required_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;

  /// Why a dimension cannot have a value: "M = 0 is not in 1 … 2147483647"; none when it can.
  [[nodiscard]] std::optional<std::string> refusal(std::size_t dimension, std::int64_t value) const;
  /// The size with these numbers, one place for each dimension, and defaults where there is none;
  /// else what is wrong with it, naming the dimension or the constraint.
  [[nodiscard]] Expected<Size, std::string> complete(
      std::span<const std::optional<std::int64_t>> numbers) const;
  /// Whether an optional dimension has in a size what it has when it is not named.
  [[nodiscard]] bool is_default(std::size_t dimension, const Size& size) const;

 private:
  [[nodiscard]] Expected<std::int64_t, std::string> default_value(
      std::size_t dimension, std::span<const std::int64_t> before) const;
  [[nodiscard]] std::optional<std::string> violation(const Size& size) const;

  std::vector<Dimension> dimensions_;
  std::vector<Constraint> constraints_;
  std::size_t required_ = 0;
};

/// Declares a dimension's name, those of its values, and bytes(…) of its types.
void declare_dimension(Scope& scope, const Dimension& dimension);

/// Reads the keys `dims` and `constraints` of a space file's `problem`; other keys are the
/// caller's. `where` is what error messages begin with, e.g. "spaces/gemm.json: problem". Throws
/// Error(usage) on the first mistake.
[[nodiscard]] Dimensions parse_dimensions(const Json& problem, std::string_view where);

}  // namespace tuner::space
