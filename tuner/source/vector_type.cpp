// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/vector_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tuner::source {
namespace {

using Named = std::pair<std::string_view, ElementType>;

/// With 1, 2, 3 or 4 behind it.
constexpr std::array<Named, 12> kNumbers = {{{"char", ElementType::s8},
                                             {"uchar", ElementType::u8},
                                             {"short", ElementType::s16},
                                             {"ushort", ElementType::u16},
                                             {"int", ElementType::s32},
                                             {"uint", ElementType::u32},
                                             {"long", ElementType::s64},
                                             {"ulong", ElementType::u64},
                                             {"longlong", ElementType::s64},
                                             {"ulonglong", ElementType::u64},
                                             {"float", ElementType::f32},
                                             {"double", ElementType::f64}}};
/// With 2 behind it.
constexpr std::array<Named, 4> kPairs = {{{"half", ElementType::f16},
                                          {"__half", ElementType::f16},
                                          {"nv_bfloat16", ElementType::bf16},
                                          {"__nv_bfloat16", ElementType::bf16}}};

template <std::size_t N>
std::optional<ElementType> element_of(const std::array<Named, N>& all, std::string_view name) {
  const auto* const found = std::ranges::find(all, name, &Named::first);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<VectorType> vector_type(std::string_view name) {
  constexpr int kMostAligned = 16;
  if (name.empty() || name.back() < '1' || name.back() > '4') return std::nullopt;
  const int width = name.back() - '0';
  name.remove_suffix(1);
  auto element = element_of(kNumbers, name);
  if (!element && width == 2) element = element_of(kPairs, name);
  if (!element) return std::nullopt;
  const auto bytes = static_cast<int>(element_bytes(*element));
  return VectorType{.element = *element,
                    .width = width,
                    .align_bytes = width == 3 ? bytes : std::min(width * bytes, kMostAligned)};
}

}  // namespace tuner::source
