// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tuner::gemm_benchmark {

std::string aligned_rows(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace tuner::gemm_benchmark
