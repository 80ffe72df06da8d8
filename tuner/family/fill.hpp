// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/space/expression.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tuner::family {

enum class Law;  // law.hpp

/// What the elements of an input are when kernels are checked and timed.
enum class FillKind {
  normal,       ///< standard normal numbers; whole numbers in checks of exact results
  uniform,      ///< in [0, 1); whole numbers above 0 in checks of exact results
  between,      ///< uniform in [least, most); whole numbers there in checks of exact results
  positive,     ///< |normal| + 0.5; whole numbers above 0 in checks of exact results
  permutation,  ///< of 0 to count − 1
  sorted,       ///< ascending
  integers,     ///< whole numbers in [low, high]
  constant,     ///< every element is `value`
  values,       ///< each given by itself: `values`, as many as there are elements
  csr_offsets,  ///< ascending, the first 0, the last `high`: where the rows of a CSR matrix begin
  copy,         ///< the elements of the argument `source`
  npy,          ///< the array in the file `source`
};

/// One element: a number with a fraction, or of the dimensions.
struct FillValue {
  std::optional<double> real = {};
  space::Expression whole = space::Expression::constant(0);  ///< where there is no `real`
};

struct InputFill {
  FillKind kind = FillKind::normal;
  space::Expression low = space::Expression::constant(0);  ///< of integers; of the dimensions
  space::Expression high =
      space::Expression::constant(0);  ///< of integers and CSR offsets; of the dimensions
  double value = 0;                    ///< of a constant
  double least = 0, most = 1;          ///< of `between`; finite, least < most
  std::vector<FillValue> values = {};
  std::string source = {};              ///< a name, or a path relative to the space file
  std::vector<Law> excluded_laws = {};  ///< by which no check draws them
  std::string exclusion_reason = {};
};

}  // namespace tuner::family
