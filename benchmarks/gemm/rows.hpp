// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tuner::gemm_benchmark {

using Row = std::vector<std::string>;

/// Columns two spaces apart, without spaces at the ends of lines. All rows have as many columns as
/// the first, of which there must be one.
[[nodiscard]] std::string aligned_rows(const std::vector<Row>& rows);

}  // namespace tuner::gemm_benchmark
