// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/family.hpp"
#include "tuner/family/parse.hpp"

namespace tuner {
namespace {

double at_size(const Expression& expression, const Size& size) {
  const auto value = expression.evaluate(family_slots(size));
  return value ? static_cast<double>(*value) : 0.0;
}

}  // namespace

double flops_at(const Problem& problem, const Size& size) {
  return at_size(problem.flops, size);
}

double bytes_at(const Problem& problem, const Size& size) {
  return at_size(problem.bytes, size);
}

std::optional<Size> size_at(const CheckSize& check, const Dimensions& dims, const Size& tuned,
                            const Slots& slots) {
  std::vector<std::optional<std::int64_t>> numbers(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (check.extents[i]) {
      const auto value = check.extents[i]->evaluate(slots);
      if (!value) return std::nullopt;
      numbers[i] = *value;
    } else if (dims[i].is_kind()) {
      numbers[i] = tuned[i];
    }
  }
  auto size = dims.complete(numbers);
  if (!size) return std::nullopt;
  return *std::move(size);
}

}  // namespace tuner
