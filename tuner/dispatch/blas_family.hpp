// SPDX-License-Identifier: Apache-2.0
// Module dispatch: the dispatcher inside an application, whose interface is dispatch.h (C) and,
// above it, dispatcher.hpp and gemm.hpp. Engine does the work: select, compile, load, launch.
#pragma once

#include "tuner/blas/gemm_types.hpp"
#include "tuner/blas/operation.hpp"
#include "tuner/dispatch/family_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tuner::dispatch {

/// A family that multiplies matrices of one type.
struct GemmFamily {
  FamilyId id{};
  /// The numbers of a size after those of blas::kGemmDimensions, up to the dimension of types.
  std::array<std::int64_t, 7> rest{};
  std::size_t rest_count = 0;
  /// Where BIAS, ACTIVATION and RESIDUAL stand in it, one after the other, where the family has
  /// them.
  std::optional<std::size_t> epilogue = {};
};

/// A size of such a family, in all dimensions that the family names.
class GemmSize {
 public:
  /// `epilogue` is none where the family has none.
  GemmSize(const GemmFamily& family, const blas::GemmShape& shape, const Epilogue& epilogue)
      : family_(family.id),
        arguments_(family.epilogue ? 7 : 5),
        count_(kShape + family.rest_count) {
    std::ranges::copy(family.rest,
                      std::ranges::copy(blas::gemm_numbers(shape), numbers_.begin()).out);
    if (!family.epilogue) return;
    std::int64_t* const kinds = numbers_.data() + kShape + *family.epilogue;
    kinds[0] = static_cast<std::int64_t>(epilogue.bias);
    kinds[1] = static_cast<std::int64_t>(epilogue.activation);
    kinds[2] = epilogue.residual ? 1 : 0;
  }
  [[nodiscard]] FamilyId family() const { return family_; }
  [[nodiscard]] std::span<const std::int64_t> numbers() const {
    return std::span(numbers_).first(count_);
  }
  /// The arguments that a launch of the family takes, of alpha, A, B, beta, C, the bias and the
  /// residual.
  [[nodiscard]] std::span<const DispatchArgument> taken(
      std::span<const DispatchArgument, 7> arguments) const {
    return arguments.first(arguments_);
  }

 private:
  static constexpr std::size_t kShape = blas::kGemmDimensions.size();

  FamilyId family_;
  std::size_t arguments_, count_;
  std::array<std::int64_t, kShape + std::tuple_size_v<decltype(GemmFamily::rest)>> numbers_;
};

/// One for each GemmType, where the table has one.
using GemmFamilies = std::array<std::optional<GemmFamily>, blas::kGemmTypes>;

/// Adds a family where it is "gemm", or "gemm_tensor" with epilogues, with the dimensions and the
/// arguments that gemm() passes: for every type for which its matrices and factors are those of
/// that type.
void add_gemm_family(GemmFamilies& found, std::string_view name, FamilyId id,
                     const FamilyTable& table);

}  // namespace tuner::dispatch
