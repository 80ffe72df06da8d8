// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/family/family.hpp"
#include "tuner/space/required_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tuner::family {
namespace {

std::int64_t value_of(const space::Expression& expression, const space::ExpressionValues& values,
                      std::string_view key) {
  return space::required_value(expression, values,
                               [&] { return fmt::format("check.reference.{}:", key); });
}

Transpose transpose_of(const space::Expression& expression, const space::ExpressionValues& values,
                       std::string_view key) {
  const std::int64_t value = value_of(expression, values, key);
  if (value == 0) return Transpose::no;
  if (value == 1) return Transpose::yes;
  throw Error(ErrorCode::usage, fmt::format("check.reference.{}: \"{}\" is {}; it must be 0 or 1",
                                            key, expression.text(), value));
}

/// Gives a matrix the layout that the reference asks for; `letter` ends the names of its keys.
void place(blas::MatrixLayout& layout, char letter, const std::optional<space::Expression>& ld,
           const std::optional<space::Expression>& stride, const space::ExpressionValues& values) {
  if (ld) {
    layout.ld = value_of(*ld, values, fmt::format("ld{}", letter));
    // What overflows is more than any memory holds, which blas::check_shape finds by rows and ld.
    if (__builtin_mul_overflow(layout.rows, layout.ld, &layout.stride)) layout.stride = 0;
  }
  if (stride) layout.stride = value_of(*stride, values, fmt::format("stride_{}", letter));
}

}  // namespace

blas::GemmShape gemm_shape(const GemmReference& reference, const space::ExpressionValues& values) {
  blas::GemmShape shape = blas::packed_gemm(
      value_of(reference.m, values, "m"), value_of(reference.n, values, "n"),
      value_of(reference.k, values, "k"), transpose_of(reference.trans_a, values, "trans_a"),
      transpose_of(reference.trans_b, values, "trans_b"),
      value_of(reference.batch, values, "batch"));
  place(shape.a, 'a', reference.lda, reference.stride_a, values);
  place(shape.b, 'b', reference.ldb, reference.stride_b, values);
  place(shape.c, 'c', reference.ldc, reference.stride_c, values);
  blas::check_shape(shape);
  return shape;
}

blas::GeamShape geam_shape(const GeamReference& reference, const space::ExpressionValues& values) {
  blas::GeamShape shape =
      blas::packed_geam(value_of(reference.m, values, "m"), value_of(reference.n, values, "n"),
                        transpose_of(reference.trans_a, values, "trans_a"),
                        transpose_of(reference.trans_b, values, "trans_b"));
  place(shape.a, 'a', reference.lda, std::nullopt, values);
  place(shape.c, 'c', reference.ldc, std::nullopt, values);
  if (reference.b == reference.c) {
    shape.b = shape.c;
  } else {
    place(shape.b, 'b', reference.ldb, std::nullopt, values);
  }
  blas::check_shape(shape);
  return shape;
}

Epilogue epilogue(const Check& check, const space::ExpressionValues& values) {
  const auto* const gemm = std::get_if<GemmReference>(&check.reference);
  if (gemm == nullptr || !gemm->epilogue) return {};
  const EpilogueReference& reference = *gemm->epilogue;
  const auto number = [&](const space::Expression& expression, std::string_view key,
                          std::int64_t most) {
    const std::int64_t value = value_of(expression, values, key);
    if (value >= 0 && value <= most) return value;
    throw Error(ErrorCode::usage,
                fmt::format("check.reference.{}: \"{}\" is {}; it must be 0 to {}", key,
                            expression.text(), value, most));
  };
  return {
      .bias = static_cast<Bias>(number(reference.bias_kind, "epilogue.bias_kind", 2)),
      .activation = static_cast<Activation>(number(reference.activation, "epilogue.activation", 2)),
      .residual = number(reference.has_residual, "epilogue.has_residual", 1) == 1};
}

std::optional<space::Size> without_epilogue(const Family& family, const space::Size& size) {
  const auto* const gemm = std::get_if<GemmReference>(&family.check.reference);
  if (gemm == nullptr || !gemm->epilogue) return std::nullopt;
  const space::Dimensions& dims = family.problem.dims;
  space::Size alone = size;
  for (const space::Expression* const kind :
       {&gemm->epilogue->bias_kind, &gemm->epilogue->activation, &gemm->epilogue->has_residual}) {
    const auto named = std::ranges::find(dims, kind->text(), &space::Dimension::name);
    if (named == dims.end()) {
      if (!kind->slots().empty()) return std::nullopt;
      const auto fixed = kind->evaluate({});
      if (!fixed || *fixed != 0) return std::nullopt;
      continue;
    }
    if (std::ranges::find(named->values, 0) == named->values.end()) return std::nullopt;
    alone[static_cast<std::size_t>(named - dims.begin())] = 0;
  }
  if (alone == size) return std::nullopt;
  return alone;
}

const MatrixArguments* library_arguments(const Check& check) {
  if (const auto* gemm = std::get_if<GemmReference>(&check.reference)) return gemm;
  return std::get_if<GeamReference>(&check.reference);
}

double default_beta(const Check& check) {
  const auto* const geam = std::get_if<GeamReference>(&check.reference);
  return geam != nullptr && geam->b != geam->c ? 1 : 0;
}

std::array<std::string, blas::kMostOperands> operand_names(const Check& check,
                                                           const Epilogue& epilogue) {
  const MatrixArguments& names = *library_arguments(check);
  std::array<std::string, blas::kMostOperands> result = {names.a, names.b, names.c};
  if (epilogue.is_none()) return result;
  const EpilogueReference& its = std::get<GemmReference>(check.reference).epilogue.value();
  if (epilogue.bias != Bias::none) result[blas::kBias] = its.bias;
  if (epilogue.residual) result[blas::kResidual] = its.residual;
  return result;
}

std::optional<blas::Shape> library_shape(const Check& check,
                                         const space::ExpressionValues& values) {
  if (const auto* gemm = std::get_if<GemmReference>(&check.reference)) {
    return gemm_shape(*gemm, values);
  }
  if (const auto* geam = std::get_if<GeamReference>(&check.reference)) {
    return geam_shape(*geam, values);
  }
  return std::nullopt;
}

std::optional<blas::Operation> library_operation(const Family& family,
                                                 const space::ExpressionValues& values) {
  const auto shape = library_shape(family.check, values);
  if (!shape) return std::nullopt;
  const auto type = [&](const std::string& name) {
    const auto argument = std::ranges::find(family.arguments, name, &Argument::name);
    return std::get<BufferArgument>(argument->what).type.at(values);
  };
  const MatrixArguments& names = *library_arguments(family.check);
  const ElementType result = type(names.c);
  return blas::Operation{.type = type(names.a),
                         .result = result,
                         .shape = *shape,
                         .fast_sums = has_fast_sums(family.check, result, values)};
}

}  // namespace tuner::family
