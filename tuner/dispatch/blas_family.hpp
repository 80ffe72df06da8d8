// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace tuner::dispatch {

inline constexpr std::size_t kGemmTypes = 6;

/// A family that multiplies matrices of one type.
struct GemmFamily {
  FamilyId id{};
  /// The numbers of a size after those of BLAS (M to LDC), up to the dimension of types.
  std::array<std::int64_t, 7> rest{};
  std::size_t rest_count = 0;
};

/// One for each GemmType, where the table has one.
using GemmFamilies = std::array<std::optional<GemmFamily>, kGemmTypes>;

/// Adds a family where it is "gemm" with the dimensions and the arguments that gemm() passes: for
/// every type for which its matrices and factors are those of that type.
void find_gemm(GemmFamilies& found, FamilyId id, const FamilyTable& family);

}  // namespace tuner::dispatch
