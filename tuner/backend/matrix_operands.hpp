// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <cstddef>
#include <variant>

namespace tuner::backend {

/// Where the matrices of a library operation lie, the first of each for a batch, and its factors.
struct MatrixOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  double alpha = 1, beta = 0;
  const void* bias = nullptr;      ///< of an epilogue that has one
  const void* residual = nullptr;  ///< likewise; lies as c does
};

/// The operands of a call. `address(region, size_bytes)` returns where a region of a buffer lies,
/// or throws when the buffer is too small. Throws as check_shape.
template <class Address>
MatrixOperands matrix_operands(const LibraryCall& call, const Address& address) {
  const auto in_shape = [&](const auto& shape) {
    family::check_shape(shape);
    const auto at = [&](Region region, const family::MatrixLayout& layout,
                        family::ElementType type) {
      const auto count = static_cast<std::size_t>(family::elements(layout, shape.batch));
      return address(region, count * family::size_bytes(type));
    };
    const family::LibraryOperation& operation = call.operation;
    const Epilogue& epilogue = operation.epilogue;
    const bool of_rows = epilogue.bias == Bias::per_row;
    const std::size_t bias_bytes = family::size_bytes(operation.result_type()) *
                                   static_cast<std::size_t>(of_rows ? shape.m : shape.n);
    return MatrixOperands{
        .a = at(call.a, shape.a, operation.type),
        .b = at(call.b, shape.b, operation.type),
        .c = at(call.c, shape.c, operation.result_type()),
        .alpha = call.alpha,
        .beta = call.beta,
        .bias = epilogue.bias == Bias::none ? nullptr : address(call.bias, bias_bytes),
        .residual =
            epilogue.residual ? at(call.residual, shape.c, operation.result_type()) : nullptr};
  };
  return std::visit(in_shape, call.operation.shape);
}

}  // namespace tuner::backend
