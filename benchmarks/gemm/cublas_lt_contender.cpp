// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/cublas_lt_contender.hpp"

#include "tuner/backend/cuda/cublas_lt.hpp"

namespace tuner::gemm_benchmark {
namespace {

constexpr int kHeuristics = 16;
constexpr std::uint32_t kAlignmentBytes = 256;

family::MatrixLayout layout(const StoredMatrix& matrix) {
  return {
      .rows = matrix.rows, .columns = matrix.columns, .ld = matrix.ld, .stride = matrix.stride()};
}

family::LibraryOperation operation(const Shape& shape) {
  const auto transpose = [](std::int64_t transposed) {
    return transposed == 0 ? Transpose::no : Transpose::yes;
  };
  return {.type = shape.type,
          .result = shape.result,
          .shape = family::GemmShape{.m = shape.m,
                                     .n = shape.n,
                                     .k = shape.k,
                                     .trans_a = transpose(shape.trans_a),
                                     .trans_b = transpose(shape.trans_b),
                                     .batch = shape.batch,
                                     .a = layout(matrix_a(shape)),
                                     .b = layout(matrix_b(shape)),
                                     .c = layout(matrix_c(shape))}};
}

}  // namespace

CublasLtContenders::CublasLtContenders(cudaStream_t stream)
    : stream_(stream),
      library_(std::make_unique<const backend::CublasLt>()),
      workspace_(backend::make_device_memory(backend::CublasLt::kWorkspaceBytes)) {}

CublasLtContenders::~CublasLtContenders() = default;

std::vector<Contender> CublasLtContenders::contenders(const Shape& shape, const Operands& operands,
                                                      std::size_t others) const {
  const auto product = std::make_shared<const backend::LtProduct>(*library_, operation(shape));
  const std::int64_t offset = offset_bytes(shape);
  const auto alignment =
      offset == 0 ? kAlignmentBytes : static_cast<std::uint32_t>(offset & -offset);
  std::vector<backend::LtAlgorithm> algorithms = product->proposed(kHeuristics, alignment);
  const std::vector<backend::LtAlgorithm> drawn = product->drawn(others, alignment);
  algorithms.insert(algorithms.end(), drawn.begin(), drawn.end());
  std::vector<Contender> all;
  for (const backend::LtAlgorithm& algorithm : algorithms) {
    all.push_back({.role = Role::cublas_lt,
                   .kernel = product->describe(algorithm),
                   .launch = [=, this, &operands](std::size_t index) {
                     const OperandSet set = operands.set(index);
                     return product->multiply({.a = set.a, .b = set.b, .c = set.c}, algorithm,
                                              workspace_.get(), stream_);
                   }});
  }
  return all;
}

}  // namespace tuner::gemm_benchmark
