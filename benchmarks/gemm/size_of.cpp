// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/size_of.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

std::optional<space::Size> size_of(const Shape& shape, const family::Problem& problem) {
  const std::map<std::string, std::int64_t> values = {{"M", shape.m},
                                                      {"N", shape.n},
                                                      {"K", shape.k},
                                                      {"BATCH", shape.batch},
                                                      {"TRANS_A", shape.trans_a},
                                                      {"TRANS_B", shape.trans_b},
                                                      {"LDA", shape.lda},
                                                      {"LDB", shape.ldb},
                                                      {"LDC", shape.ldc},
                                                      {"ALIGN", shape.align}};
  const std::vector<std::string> names = problem.dims.names();
  // Where the family has no such dimension, the shape must be that of a plain product.
  const Shape plain = parse_shape(fmt::format("{},{},{}", shape.m, shape.n, shape.k));
  const std::map<std::string, std::int64_t> otherwise = {
      {"BATCH", 1},       {"TRANS_A", 0},     {"TRANS_B", 0},        {"LDA", plain.lda},
      {"LDB", plain.ldb}, {"LDC", plain.ldc}, {"ALIGN", plain.align}};
  for (const auto& [name, value] : values) {
    if (std::ranges::find(names, name) != names.end()) continue;
    const auto expected = otherwise.find(name);
    if (expected == otherwise.end() || expected->second != value) return std::nullopt;
  }
  std::vector<std::optional<std::int64_t>> numbers;
  bool has_types = false;
  for (const std::string& name : names) {
    const space::Dimension& dimension = problem.dims[numbers.size()];
    if (!dimension.types.empty()) {
      const auto type = dimension.value_of(type_name(shape));
      if (!type) return std::nullopt;
      numbers.emplace_back(*type);
      has_types = true;
      continue;
    }
    const auto value = values.find(name);
    numbers.push_back(value == values.end() ? std::nullopt : std::optional(value->second));
  }
  if (!has_types && type_name(shape) != "f32") return std::nullopt;
  auto size = problem.dims.complete(numbers);
  return size ? std::optional(*std::move(size)) : std::nullopt;
}

}  // namespace tuner::gemm_benchmark
