// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/result.hpp"

#include <algorithm>
#include <array>

namespace tuner::gemm_benchmark {

std::string_view name(Role role) {
  constexpr std::array<std::string_view, 8> kNames = {
      "ours",       "default", "cublas", "cublasLt", "cublasLt default",
      "dispatched", "retuned", "kernel"};
  return kNames.at(static_cast<std::size_t>(role));
}

const ContenderResult* find(const ShapeResult& result, Role role) {
  const auto found = std::ranges::find(result.contenders, role, &ContenderResult::role);
  return found == result.contenders.end() ? nullptr : &*found;
}

bool is_memory_bound(const Shape& shape) {
  const auto ridge = [&] {
    if (shape.type == ElementType::tf32) return 118;
    if (size_bytes(shape.type) == 2) return 236;
    return size_bytes(shape.type) == 1 ? 472 : 16;
  };
  return flops(shape) < ridge() * bytes(shape);
}

}  // namespace tuner::gemm_benchmark
