// SPDX-License-Identifier: Apache-2.0
// Any text as an expression: a value, a fault or an error that says where, for every kind of
// number.
#include "input.hpp"
#include "tuner/space/expression.hpp"

#include <array>
#include <limits>

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tuner;
  const std::string_view text = fuzz::text_of(data, size);
  space::Scope scope;
  scope.declare("A");
  scope.declare("B");
  scope.declare("W", space::ValueKind::word);
  const std::int64_t word = scope.intern("nt");
  const auto expression = space::Expression::compile(text, scope);
  if (!expression) {
    fuzz::require(!expression.error().message.empty(), "an error says what");
    return 0;
  }
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::array<std::int64_t, 6> kNumbers = {0, 1, -1, 64, kLeast, kMost};
  for (const std::int64_t a : kNumbers) {
    for (const std::int64_t b : kNumbers) {
      static_cast<void>(expression->evaluate(std::array{a, b, word}));
    }
  }
  return 0;
}
