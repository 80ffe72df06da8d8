// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/family/candidate.hpp"
#include "tuner/family/family.hpp"
#include "tuner/family/parse.hpp"
#include "tuner/space/required_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace tuner::family {
namespace {

double at_size(const space::Expression& expression, const space::Size& size) {
  const auto value = expression.evaluate(family_values(size));
  return value ? static_cast<double>(*value) : 0.0;
}

/// The widest access of a kernel, of which an offset tells whether it may be used.
constexpr std::uint64_t kWidestAccessBytes = 16;

/// "offset" or "align" of an argument.
std::int64_t property(const space::Expression& expression, std::string_view name,
                      std::string_view key, const space::ExpressionValues& values) {
  return space::required_value(
      expression, values, [&] { return fmt::format("argument '{}': its {}", name, key); }, 0);
}

}  // namespace

Scalar scalar_value(const ScalarArgument& scalar, std::string_view name,
                    const space::ExpressionValues& values) {
  const ElementType type = scalar.type.at(values);
  if (scalar.real) return make_real_scalar(type, *scalar.real);
  const auto value = scalar.value.evaluate(values);
  if (value) {
    try {
      return make_scalar(type, *value);
    } catch (const Error& error) {
      throw Error(ErrorCode::usage,
                  fmt::format("argument '{}' = {}: {}", name, scalar.value.text(), error.what()));
    }
  }
  throw Error(ErrorCode::usage,
              fmt::format("argument '{}' = {} has no value at this size: {}", name,
                          scalar.value.text(), tuner::space::name(value.error())));
}

std::string value_text(const ScalarArgument& scalar) {
  return scalar.real ? fmt::format("{}", *scalar.real) : scalar.value.text();
}

std::size_t array_bytes(const ArrayArgument& array, std::string_view name,
                        const space::ExpressionValues& values) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::usage,
                fmt::format("argument '{}': its count \"{}\" {}", name, array.count.text(), why));
  };
  const auto count = array.count.evaluate(values);
  if (!count) fail(fmt::format("has no value: {}", tuner::space::name(count.error())));
  if (*count < 1) fail(fmt::format("is {}; an array has at least 1 element", *count));
  const ElementType type = array.type.at(values);
  const std::size_t element_bytes = tuner::element_bytes(type);
  const auto elements = static_cast<std::uint64_t>(*count);
  if (!array.symbol.empty() && elements > kMostSymbolBytes / element_bytes) {
    fail(fmt::format("is {}, which are {} bytes of {}; constant memory has {}", elements,
                     static_cast<double>(elements) * static_cast<double>(element_bytes),
                     tuner::family::name(type), kMostSymbolBytes));
  }
  if (array.symbol.empty() && elements > kMostArrayBytes / element_bytes) {
    fail(fmt::format(
        "is {}, which are {} bytes of {}; an array by value has at most {}, the size of kernel "
        "parameters that every GPU supports: make the argument a buffer, \"{}*\", or take a "
        "smaller "
        "size",
        elements, static_cast<double>(elements) * static_cast<double>(element_bytes),
        tuner::family::name(type), kMostArrayBytes, tuner::family::name(type)));
  }
  return static_cast<std::size_t>(elements) * element_bytes;
}

std::size_t alignment_bytes(const BufferArgument& buffer, std::string_view name,
                            const space::ExpressionValues& values) {
  const std::size_t element_bytes = tuner::element_bytes(buffer.type.at(values));
  const std::uint64_t offset_bytes =
      static_cast<std::uint64_t>(property(buffer.offset, name, "offset", values)) * element_bytes;
  if (!buffer.align) {
    if (buffer.offset.text() == "0") return element_bytes;
    if (offset_bytes == 0) return kWidestAccessBytes;
    return std::min(offset_bytes & (~offset_bytes + 1), kWidestAccessBytes);
  }
  const auto align = static_cast<std::uint64_t>(property(*buffer.align, name, "align", values));
  if (!std::has_single_bit(align) || align < element_bytes || align > kMostAlignmentBytes) {
    throw Error(ErrorCode::usage,
                fmt::format("argument '{}': its align \"{}\" is {}; it must be a power of two from "
                            "{}, the bytes of an element, to {}",
                            name, buffer.align->text(), align, element_bytes, kMostAlignmentBytes));
  }
  if (offset_bytes % align != 0) {
    throw Error(
        ErrorCode::usage,
        fmt::format("argument '{}': its offset \"{}\" is {} bytes, not a multiple of its align, {}",
                    name, buffer.offset.text(), offset_bytes, align));
  }
  return align;
}

double flops_at(const Problem& problem, const space::Size& size) {
  return at_size(problem.flops, size);
}

double bytes_at(const Problem& problem, const space::Size& size) {
  return at_size(problem.bytes, size);
}

std::optional<space::Size> size_at(const CheckSize& check, const space::Dimensions& dims,
                                   const space::Size& tuned,
                                   const space::ExpressionValues& values) {
  std::vector<std::optional<std::int64_t>> numbers(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (check.extents[i]) {
      const auto value = check.extents[i]->evaluate(values);
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

std::string TypeOf::text() const {
  return name_.empty() ? std::string(tuner::name(all_.front())) : fmt::format("${{{}}}", name_);
}

std::optional<TypeOf> type_named(const space::Dimensions& dims, std::string_view name) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto found = dims[i].types.find(std::string(name));
    if (found == dims[i].types.end()) continue;
    const auto by_default = dims[i].default_value->evaluate({});
    return TypeOf(std::string(name), space::attribute_fields().size() + i, found->second,
                  static_cast<std::size_t>(*by_default));
  }
  return std::nullopt;
}

ElementType compute_type(const Check& check, ElementType result,
                         const space::ExpressionValues& values) {
  return check.compute && is_floating(result) ? check.compute->at(values) : accumulator(result);
}

namespace {

/// A value of check.partial_sums, above 0.
double value_of(const space::Expression& expression, const space::ExpressionValues& values) {
  const auto value = expression.evaluate(values);
  if (value && *value > 0) return static_cast<double>(*value);
  throw Error(ErrorCode::usage,
              fmt::format("check.partial_sums: \"{}\" has no value above 0", expression.text()));
}

}  // namespace

double computation_unit(const Check& check, ElementType result,
                        const space::ExpressionValues& values) {
  const double unit = unit_roundoff(compute_type(check, result, values));
  if (!check.partial_sums || !is_floating(result)) return unit;
  const double terms = value_of(check.accumulates, values);
  const double together = std::min(value_of(check.partial_sums->terms, values), terms);
  return std::max(unit, std::exp2(-value_of(check.partial_sums->bits, values)) * together / terms);
}

bool has_fast_sums(const Check& check, ElementType result, const space::ExpressionValues& values) {
  if (!check.partial_sums || !is_floating(result)) return false;
  const double unit = unit_roundoff(compute_type(check, result, values));
  return std::exp2(-value_of(check.partial_sums->bits, values)) > unit &&
         value_of(check.partial_sums->terms, values) >= value_of(check.accumulates, values);
}

double largest_exact_sum(const Check& check, ElementType result,
                         const space::ExpressionValues& values) {
  const double largest = largest_exact_integer(compute_type(check, result, values));
  if (!check.partial_sums || !is_floating(result)) return largest;
  return std::min(largest, std::exp2(value_of(check.partial_sums->bits, values)));
}

bool is_rounded(const Check& check, ElementType result, const space::ExpressionValues& values) {
  return unit_roundoff(result) > unit_roundoff(compute_type(check, result, values));
}

}  // namespace tuner::family
