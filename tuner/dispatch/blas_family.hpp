// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/dispatch/family_table.hpp"
#include "tuner/dispatch/gemm_types.hpp"
#include "tuner/family/epilogue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tuner::dispatch {

/// The dimensions of a size that say what BLAS says: M to LDC.
inline constexpr std::size_t kBlasDimensions = 9;
using BlasSize = std::array<std::int64_t, kBlasDimensions>;

/// A family that multiplies matrices of one type.
struct GemmFamily {
  FamilyId id{};
  /// The numbers of a size after those of BLAS (M to LDC), up to the dimension of types.
  std::array<std::int64_t, 7> rest{};
  std::size_t rest_count = 0;
  /// Where BIAS, ACTIVATION and RESIDUAL stand in it, one after the other, where the family has
  /// them.
  std::optional<std::size_t> epilogue = {};
};

/// A size in all dimensions of such a family that it names.
class GemmSize {
 public:
  GemmSize(const GemmFamily& family, const BlasSize& blas)
      : count_(kBlasDimensions + family.rest_count) {
    std::ranges::copy(family.rest, std::ranges::copy(blas, numbers_.begin()).out);
  }
  /// Of a family that has epilogues.
  GemmSize(const GemmFamily& family, const BlasSize& blas, const Epilogue& epilogue)
      : GemmSize(family, blas) {
    const std::array<std::int64_t, 3> kinds = {static_cast<std::int64_t>(epilogue.bias),
                                               static_cast<std::int64_t>(epilogue.activation),
                                               epilogue.residual ? 1 : 0};
    std::ranges::copy(kinds, numbers_.begin() + kBlasDimensions +
                                 static_cast<std::ptrdiff_t>(family.epilogue.value()));
  }
  [[nodiscard]] std::span<const std::int64_t> numbers() const {
    return std::span(numbers_).first(count_);
  }

 private:
  std::array<std::int64_t, kBlasDimensions + std::tuple_size_v<decltype(GemmFamily::rest)>>
      numbers_;
  std::size_t count_;
};

/// One for each GemmType, where the table has one.
using GemmFamilies = std::array<std::optional<GemmFamily>, kGemmTypes>;

/// Adds a family where it is "gemm", or "gemm_tensor" with epilogues, with the dimensions and the
/// arguments that gemm() passes: for every type for which its matrices and factors are those of
/// that type.
void add_gemm_family(GemmFamilies& found, std::string_view name, FamilyId id,
                     const FamilyTable& table);

}  // namespace tuner::dispatch
