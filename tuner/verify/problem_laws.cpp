// SPDX-License-Identifier: Apache-2.0
// The part of ProblemData that draws inputs by laws.
#include "tuner/backend/owned.hpp"
#include "tuner/verify/problem_data.hpp"

#include <algorithm>
#include <cmath>

namespace tuner::verify {

bool ProblemData::follows_law(std::size_t argument, family::ElementType type) const {
  if (!recipe_.law) return false;
  const auto laws = family::laws_of(numbers_of(argument), type, family_.check.continuous);
  const family::Law law = recipe_.law->law;
  if (std::ranges::count(laws, law) == 0) return false;
  const bool may_divide_by = !family::is_floating(type) &&
                             numbers_of(argument).kind == family::FillKind::normal &&
                             reference_divides_;
  using enum family::Law;
  if (may_divide_by && (law == zeros || law == small || law == wide || law == outliers)) {
    return false;
  }
  return law != shared || lender(argument, type).has_value();
}

bool ProblemData::has_law(family::Law law) const {
  return std::ranges::any_of(data(), [&](const CheckedData& each) {
    const bool is_read = each.role == family::BufferRole::input || each.initial;
    ProblemData with = *this;
    with.recipe_.law = LawLevel{.law = law};
    return is_read && with.follows_law(each.argument, each.type);
  });
}

LawInputs ProblemData::law_inputs(const CheckKernels::Elements& data, std::size_t argument) const {
  const family::InputFill& fill = numbers_of(argument);
  LawInputs inputs{.kind = fill.kind};
  const auto [least, greatest] = family::integer_range(data.type);
  switch (fill.kind) {
    case family::FillKind::uniform:
      inputs.most = 1;
      break;
    case family::FillKind::between:
      inputs.least = fill.least;
      inputs.most = fill.most;
      break;
    case family::FillKind::integers:
      inputs.low = evaluate(fill.low, family_.arguments[argument].name);
      inputs.high = evaluate(fill.high, family_.arguments[argument].name);
      break;
    case family::FillKind::csr_offsets:
      inputs.high = evaluate(fill.high, family_.arguments[argument].name);
      break;
    case family::FillKind::sorted:
      inputs.most = sorted_end(data.type);
      break;
    default:
      break;
  }
  if (fill.kind == family::FillKind::normal && !family::is_floating(data.type)) {
    const bool takes_all = takes_all_integers(data.type);
    const std::int64_t range = whole_range(data.type);
    inputs.low = takes_all ? least : least < 0 ? -range : 0;
    inputs.high = takes_all ? (data.type == family::ElementType::u64 ? -1 : greatest) : range;
  }
  inputs.largest = family::is_floating(data.type) ? largest_input(data.type)
                                                  : static_cast<double>(greatest) * 0.999;
  return inputs;
}

bool ProblemData::may_wrap(const family::BufferArgument& output) const {
  const family::ElementType type = output.type.at(values_);
  return !family::is_floating(type) && family::bits(type) <= 16 &&
         (output.tolerance || family_.check.tolerance);
}

double ProblemData::largest_input(family::ElementType type) const {
  constexpr double kOrdinary = 5;  // that normal numbers hardly exceed
  double largest = 0.99 * family::largest_number(type);
  // Products of two inputs are summed in a type that may hold less than the reference's.
  for (const family::Argument& argument : family_.arguments) {
    const auto* const buffer = std::get_if<family::BufferArgument>(&argument.what);
    if (buffer == nullptr || !buffer->is_written()) continue;
    if (may_wrap(*buffer)) largest = std::min(largest, kOrdinary);
    const family::ElementType computed = compute_type(buffer->type.at(values_));
    if (!family::is_floating(computed) || family::bits(computed) > 16) continue;
    largest = std::min(
        largest, std::sqrt(family::largest_number(computed) / static_cast<double>(accumulated_)));
  }
  return largest;
}

std::optional<CheckedData> ProblemData::lender(std::size_t argument,
                                               family::ElementType type) const {
  const family::InputFill& own = numbers_of(argument);
  const auto same_bounds = [&](const family::InputFill& other) {
    return own.kind != family::FillKind::integers ||
           (evaluate(own.low, {}) == evaluate(other.low, {}) &&
            evaluate(own.high, {}) == evaluate(other.high, {}));
  };
  for (const CheckedData& each : data()) {
    if (each.argument == argument || each.type != type || each.role != family::BufferRole::input) {
      continue;
    }
    const family::InputFill& other = numbers_of(each.argument);
    const bool ascends =
        other.kind == family::FillKind::sorted && own.kind == family::FillKind::normal;
    const bool is_before = each.argument < argument && other.kind == own.kind &&
                           own.least == other.least && own.most == other.most && same_bounds(other);
    if (ascends || is_before) return each;
  }
  return std::nullopt;
}

void ProblemData::draw_by_law(CheckKernels& kernels, const CheckKernels::Elements& data,
                              std::size_t argument) const {
  const std::uint64_t seed =
      (recipe_.seed * 31 + static_cast<std::uint64_t>(recipe_.law->law)) * 1'000'033 + argument;
  if (recipe_.law->law != family::Law::shared) {
    return apply_law(kernels, data, *recipe_.law, law_inputs(data, argument), seed);
  }
  const CheckedData from = *lender(argument, data.type);
  const backend::Buffer others(backend_, from.size_bytes());
  fill(kernels, others.id(), from);
  const bool are_terms = !family::is_floating(data.type) &&
                         numbers_of(argument).kind == family::FillKind::normal &&
                         takes_all_integers(data.type);
  kernels.borrow(data, {others.id(), data.type, from.used},
                 are_terms ? CheckKernels::Flips::some : CheckKernels::Flips::none, seed);
}

std::int64_t ProblemData::most_terms() const {
  std::int64_t most = accumulated_;
  bool has_places = false;
  for (const CheckedData& each : data()) {
    if (each.role != family::BufferRole::input) continue;
    const family::FillKind kind = numbers_of(each.argument).kind;
    has_places =
        has_places || kind == family::FillKind::integers || kind == family::FillKind::csr_offsets;
    most = std::max(most, each.used);
  }
  return has_places ? most : accumulated_;
}

double ProblemData::error_growth(family::ElementType result) const {
  if (!recipe_.law) return std::sqrt(static_cast<double>(accumulated_));
  const auto terms = static_cast<double>(most_terms());
  // Beyond that a bound would let any result pass.
  constexpr double kMostError = 0x1p-4;
  return std::clamp(terms, std::sqrt(terms),
                    std::max(std::sqrt(terms), kMostError / (4 * computation_unit(result))));
}

}  // namespace tuner::verify
