// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/required_value.hpp"

#include "tuner/core/error.hpp"

#include <fmt/format.h>

namespace tuner::space {

void refuse_value(const Expression& expression, const ExpressionValues& values,
                  std::string_view what, std::int64_t least) {
  const auto value = expression.evaluate(values);
  throw Error(ErrorCode::usage,
              fmt::format("{} \"{}\" {}", what, expression.text(),
                          value ? fmt::format("is {}; it must be at least {}", *value, least)
                                : fmt::format("has no value: {}", name(value.error()))));
}

}  // namespace tuner::space
