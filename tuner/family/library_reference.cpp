// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/error.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tuner::family {
namespace {

std::int64_t value_of(const space::Expression& expression, const space::Slots& slots,
                      std::string_view key) {
  const auto value = expression.evaluate(slots);
  if (value) return *value;
  throw Error(ErrorCode::usage, fmt::format("check.reference.{}: \"{}\" has no value: {}", key,
                                            expression.text(), space::name(value.error())));
}

Transpose transpose_of(const space::Expression& expression, const space::Slots& slots,
                       std::string_view key) {
  const std::int64_t value = value_of(expression, slots, key);
  if (value == 0) return Transpose::no;
  if (value == 1) return Transpose::yes;
  throw Error(ErrorCode::usage, fmt::format("check.reference.{}: \"{}\" is {}; it must be 0 or 1",
                                            key, expression.text(), value));
}

/// Gives a matrix the layout that the reference asks for; `letter` ends the names of its keys.
void place(MatrixLayout& layout, char letter, const std::optional<space::Expression>& ld,
           const std::optional<space::Expression>& stride, const space::Slots& slots) {
  if (ld) {
    layout.ld = value_of(*ld, slots, fmt::format("ld{}", letter));
    // What overflows is more than any memory holds, which check_shape finds by rows and ld.
    if (__builtin_mul_overflow(layout.rows, layout.ld, &layout.stride)) layout.stride = 0;
  }
  if (stride) layout.stride = value_of(*stride, slots, fmt::format("stride_{}", letter));
}

}  // namespace

GemmShape gemm_shape(const GemmReference& reference, const space::Slots& slots) {
  GemmShape shape = packed_gemm(
      value_of(reference.m, slots, "m"), value_of(reference.n, slots, "n"),
      value_of(reference.k, slots, "k"), transpose_of(reference.trans_a, slots, "trans_a"),
      transpose_of(reference.trans_b, slots, "trans_b"), value_of(reference.batch, slots, "batch"));
  place(shape.a, 'a', reference.lda, reference.stride_a, slots);
  place(shape.b, 'b', reference.ldb, reference.stride_b, slots);
  place(shape.c, 'c', reference.ldc, reference.stride_c, slots);
  check_shape(shape);
  return shape;
}

GeamShape geam_shape(const GeamReference& reference, const space::Slots& slots) {
  GeamShape shape =
      packed_geam(value_of(reference.m, slots, "m"), value_of(reference.n, slots, "n"),
                  transpose_of(reference.trans_a, slots, "trans_a"),
                  transpose_of(reference.trans_b, slots, "trans_b"));
  place(shape.a, 'a', reference.lda, std::nullopt, slots);
  place(shape.c, 'c', reference.ldc, std::nullopt, slots);
  if (reference.b == reference.c) {
    shape.b = shape.c;
  } else {
    place(shape.b, 'b', reference.ldb, std::nullopt, slots);
  }
  check_shape(shape);
  return shape;
}

const MatrixArguments* library_arguments(const Check& check) {
  if (const auto* gemm = std::get_if<GemmReference>(&check.reference)) return gemm;
  return std::get_if<GeamReference>(&check.reference);
}

double default_beta(const Check& check) {
  const auto* const geam = std::get_if<GeamReference>(&check.reference);
  return geam != nullptr && geam->b != geam->c ? 1 : 0;
}

std::optional<LibraryShape> library_shape(const Check& check, const space::Slots& slots) {
  if (const auto* gemm = std::get_if<GemmReference>(&check.reference)) {
    return gemm_shape(*gemm, slots);
  }
  if (const auto* geam = std::get_if<GeamReference>(&check.reference)) {
    return geam_shape(*geam, slots);
  }
  return std::nullopt;
}

}  // namespace tuner::family
