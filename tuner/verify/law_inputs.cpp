// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/law_inputs.hpp"

#include "tuner/family/element_type.hpp"

#include <algorithm>
#include <span>

namespace tuner::verify {
namespace {

/// How far a law goes, by level, as a power of ten but for zeros; none where it has one level.
std::span<const double> strengths(family::Law law) {
  // Beyond the largest numbers of 16 bits, but not so far that the sixth power of a float overflows
  // or vanishes: a right kernel may compute it where the reference does not.
  static constexpr double kFar[] = {5, 3, 1}, kMoved[] = {4, 2, 1}, kTiny[] = {8, 4, 1},
                          kEmpty[] = {2, 1};
  switch (law) {
    case family::Law::magnitudes:
    case family::Law::outliers:
    case family::Law::negative:
    case family::Law::wide:
      return kFar;
    case family::Law::offsets:
      return kMoved;
    case family::Law::small:
      return kTiny;
    case family::Law::zeros:  // first with a part that holds nothing else
      return kEmpty;
    default:
      return {};
  }
}

/// As in check_laws.cuh.
enum class Domain : std::int32_t { any_number, positive_number, interval };

void apply_to_numbers(CheckKernels& kernels, const CheckKernels::Elements& data,
                      const LawLevel& law, const LawInputs& inputs, double strength,
                      std::uint64_t seed) {
  using enum family::FillKind;
  Domain domain = Domain::any_number;
  double low = 0, high = inputs.largest;
  if (inputs.kind == positive) {
    domain = Domain::positive_number;
    low = std::max(0x1p-126, family::smallest_number(data.type));
  } else if (inputs.kind == uniform || inputs.kind == between) {
    domain = Domain::interval;
    low = inputs.least;
    high = inputs.most;
  }
  kernels.apply_law(data, law.law, static_cast<std::int32_t>(domain), seed, strength, low, high);
}

}  // namespace

double sorted_end(family::ElementType type) {
  constexpr double kMost = 1 << 20;
  if (family::is_floating(type)) return 3;
  return std::min(kMost, static_cast<double>(family::integer_range(type).greatest));
}

int levels_of(family::Law law) {
  return std::max(1, static_cast<int>(strengths(law).size()));
}

void apply_law(CheckKernels& kernels, const CheckKernels::Elements& data, const LawLevel& law,
               const LawInputs& inputs, std::uint64_t seed) {
  using enum family::FillKind;
  const std::span<const double> levels = strengths(law.law);
  const double strength = levels.empty() ? 0 : levels[static_cast<std::size_t>(law.level)];
  if (inputs.kind == csr_offsets) {
    return kernels.apply_offsets_law(data, law.law, seed, inputs.high);
  }
  if (inputs.kind == sorted) {
    return kernels.apply_sorted_law(data, law.law, inputs.most, inputs.largest, strength);
  }
  if (!family::is_floating(data.type)) {
    return kernels.apply_integer_law(data, law.law, inputs.kind == integers, seed, inputs.low,
                                     inputs.high);
  }
  apply_to_numbers(kernels, data, law, inputs, strength, seed);
}

}  // namespace tuner::verify
