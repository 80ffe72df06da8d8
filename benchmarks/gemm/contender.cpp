// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/contender.hpp"

#include <cmath>

namespace tuner::gemm_benchmark {
namespace {

constexpr std::size_t kAlignment_bytes = 256;

std::size_t matrix_bytes(const Shape& shape, const StoredMatrix& matrix, ElementType type) {
  return bytes_of(type, shape.batch * matrix.stride());
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment_bytes - 1) / kAlignment_bytes * kAlignment_bytes;
}

/// The unit roundoff of sums of products of such numbers; tensor cores keep about 13 bits of those
/// of bytes.
double sums_roundoff(ElementType type) {
  if (type == ElementType::e4m3) return 0x1p-13;
  if (type == ElementType::tf32) return unit_roundoff(ElementType::tf32);
  return unit_roundoff(accumulator(type));
}

}  // namespace

Operands::Operands(Gpu& gpu, const Shape& shape, std::size_t sets)
    : gpu_(gpu),
      shape_(shape),
      sets_(sets),
      c_bytes_(matrix_bytes(shape, matrix_c(shape), shape.result)),
      offset_bytes_(static_cast<std::size_t>(offset_bytes(shape))) {
  b_at_ = aligned(matrix_bytes(shape, matrix_a(shape), shape.type) + offset_bytes_);
  c_at_ = b_at_ + aligned(matrix_bytes(shape, matrix_b(shape), shape.type) + offset_bytes_);
  set_bytes_ = c_at_ + aligned(c_bytes_ + offset_bytes_);
  memory_ = backend::make_device_memory(sets_ * set_bytes_);
  for (std::size_t i = 0; i < sets_; ++i) fill(i);
}

OperandSet Operands::set(std::size_t index) const {
  std::byte* const begin = memory_.get() + index * set_bytes_ + offset_bytes_;
  return {.a = begin, .b = begin + b_at_, .c = begin + c_at_};
}

void Operands::fill(std::size_t set) {
  gpu_.fill_normal(memory_.get() + set * set_bytes_, shape_.type, elements_in(shape_.type, c_at_),
                   set + 1);
}

double Operands::worst_difference(const LaunchOn& ours, const LaunchOn& library) {
  constexpr int kNaN = 0xff;
  const backend::DeviceMemory result = backend::make_device_memory(c_bytes_);
  backend::check(cudaMemsetAsync(set(0).c, kNaN, c_bytes_, gpu_.stream()),
                 "fill the result with NaN");
  require(ours(0), "launch ours");
  backend::check(
      cudaMemcpyAsync(result.get(), set(0).c, c_bytes_, cudaMemcpyDeviceToDevice, gpu_.stream()),
      "copy the result");
  begin_magnitudes();
  require(library(1), "launch cuBLAS on absolute values");
  require(library(0), "launch cuBLAS");
  require(backend::finish(gpu_.stream()), "multiply");
  const double worst = compare_with(result.get());
  fill(1);
  return worst;
}

void Operands::begin_magnitudes() {
  std::byte* const second = memory_.get() + set_bytes_;
  backend::check(
      cudaMemcpyAsync(second, memory_.get(), c_at_, cudaMemcpyDeviceToDevice, gpu_.stream()),
      "copy the operands");
  gpu_.make_absolute(second, shape_.type, elements_in(shape_.type, c_at_));
}

double Operands::compare_with(const std::byte* result) {
  const double bound = 4 * sums_roundoff(shape_.type) * std::sqrt(static_cast<double>(shape_.k));
  const bool is_rounded = unit_roundoff(shape_.result) > sums_roundoff(shape_.type);
  const StoredMatrix c = matrix_c(shape_);
  return gpu_.worst_share({.a = result,
                           .b = set(0).c,
                           .magnitude = set(1).c,
                           .rows = shape_.batch * c.rows,
                           .columns = c.columns,
                           .ld = c.ld,
                           .factor = 2 * bound,
                           .relative = is_rounded ? 4 * unit_roundoff(shape_.result) : 0,
                           .type = shape_.result});
}

}  // namespace tuner::gemm_benchmark
