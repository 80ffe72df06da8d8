// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/parameter_type.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tuner::source {
namespace {

constexpr std::array<std::string_view, 6> kIgnored = {
    "const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"};
/// The words of built-in types.
constexpr std::array<std::string_view, 9> kTypeWords = {
    "signed", "unsigned", "char", "short", "int", "long", "float", "double", "bool"};

/// Names of types that a source seldom gives another meaning.
constexpr std::array<std::pair<std::string_view, ElementType>, 17> kNames = {{
    {"__nv_bfloat16", ElementType::bf16},
    {"nv_bfloat16", ElementType::bf16},
    {"__half", ElementType::f16},
    {"half", ElementType::f16},
    {"__nv_fp8_e4m3", ElementType::e4m3},
    {"__nv_fp8_e5m2", ElementType::e5m2},
    {"int8_t", ElementType::s8},
    {"uint8_t", ElementType::u8},
    {"int16_t", ElementType::s16},
    {"uint16_t", ElementType::u16},
    {"int32_t", ElementType::s32},
    {"uint32_t", ElementType::u32},
    {"uint", ElementType::u32},
    {"int64_t", ElementType::s64},
    {"uint64_t", ElementType::u64},
    {"size_t", ElementType::u64},
    {"ptrdiff_t", ElementType::s64},
}};

bool is_type_word(std::string_view word) {
  return std::ranges::find(kTypeWords, word) != kTypeWords.end();
}

/// Of words of kTypeWords in any order; none when they are no type.
std::optional<ElementType> built_in_type(const std::vector<std::string_view>& words) {
  const auto count = [&](std::string_view word) { return std::ranges::count(words, word); };
  const auto size = static_cast<std::ptrdiff_t>(words.size());
  for (const auto& [word, type] :
       {std::pair("float", ElementType::f32), std::pair("double", ElementType::f64),
        std::pair("bool", ElementType::u8)}) {
    if (count(word) > 0) return size == 1 ? std::optional(type) : std::nullopt;
  }
  const bool is_unsigned = count("unsigned") > 0;
  const auto either = [&](ElementType if_signed, ElementType if_unsigned) {
    return is_unsigned ? if_unsigned : if_signed;
  };
  if (count("char") > 0) return either(ElementType::s8, ElementType::u8);
  if (count("short") > 0) return either(ElementType::s16, ElementType::u16);
  if (count("long") > 0) return either(ElementType::s64, ElementType::u64);
  return either(ElementType::s32, ElementType::u32);
}

/// Reads the tokens of a parameter in their order.
class Reading {
 public:
  Reading(Tokens tokens, const WordSet& types) : tokens_(tokens), types_(types) {}

  std::optional<ParameterType> read() {
    auto found = element();
    if (!found) return std::nullopt;
    skip_ignored();
    if (take("*")) found->is_pointer = true;
    skip_ignored();
    if (is_name()) ++at_;
    if (take("[")) {  // one extent, which is not looked at
      if (found->is_pointer) return std::nullopt;
      found->is_pointer = true;
      while (at_ < tokens_.size() && !take("]")) ++at_;
    }
    return at_ == tokens_.size() ? found : std::nullopt;
  }

 private:
  bool take(std::string_view text) {
    const bool is_here = at_ < tokens_.size() && has_text(tokens_[at_], text);
    if (is_here) ++at_;
    return is_here;
  }
  /// What begins with __ may be a part of a type, such as __int128.
  [[nodiscard]] bool is_name() const {
    return at_ < tokens_.size() && tokens_[at_].kind == Token::Kind::word &&
           !tokens_[at_].text.starts_with("__");
  }
  [[nodiscard]] bool is_ignored() const {
    return at_ < tokens_.size() && std::ranges::find(kIgnored, tokens_[at_].text) != kIgnored.end();
  }
  void skip_ignored() {
    while (is_ignored()) ++at_;
  }

  std::optional<ParameterType> element() {
    skip_ignored();
    std::vector<std::string_view> words;
    for (; at_ < tokens_.size() && (is_ignored() || is_type_word(tokens_[at_].text)); ++at_) {
      if (!is_ignored()) words.push_back(tokens_[at_].text);
    }
    if (!words.empty()) {
      const auto type = built_in_type(words);
      if (!type) return std::nullopt;
      const bool is_char = std::ranges::count(words, "char") > 0;
      return ParameterType{.element = *type,
                           .is_bool = words.front() == "bool",
                           .is_bytes = is_char && std::ranges::count(words, "signed") == 0};
    }
    if (take("std")) {
      if (!take(":") || !take(":")) return std::nullopt;
    }
    const auto* const known =
        at_ < tokens_.size()
            ? std::ranges::find(kNames, tokens_[at_].text, &decltype(kNames)::value_type::first)
            : kNames.end();
    if (known == kNames.end() || types_.contains(known->first)) return std::nullopt;
    ++at_;
    return ParameterType{.element = known->second, .is_bytes = known->second == ElementType::u8};
  }

  Tokens tokens_;
  const WordSet& types_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<ParameterType> parameter_type(Tokens parameter, const WordSet& macros,
                                            const WordSet& types) {
  const auto is_macro = [&](const Token& token) { return macros.contains(token.text); };
  if (std::ranges::any_of(parameter, is_macro)) return std::nullopt;
  return Reading(parameter, types).read();
}

TypeFit fit_of_number(const ParameterType& parameter, ElementType number) {
  const bool is_address = parameter.is_pointer && !is_floating(number) && bits(number) == 64;
  if (is_address) return TypeFit::fits;  // such as 0 for a pointer that is not used
  if (parameter.is_pointer) return TypeFit::differs;
  const bool fits = is_floating(parameter.element) == is_floating(number) &&
                    bits(parameter.element) == bits(number);
  return fits ? TypeFit::fits : TypeFit::differs;
}

TypeFit fit_of_buffer(const ParameterType& parameter, ElementType element) {
  if (!parameter.is_pointer) return TypeFit::differs;
  const ElementTypeRow& taken = row(parameter.element);
  const ElementTypeRow& passed = row(element);
  if (taken.cpp_name == passed.cpp_name) return TypeFit::fits;
  constexpr int kShort = 16;
  if (taken.kind == NumberKind::floating) {
    const bool is_storage =
        passed.kind != NumberKind::floating && taken.bits <= kShort && taken.bits == passed.bits;
    return is_storage ? TypeFit::doubtful : TypeFit::differs;
  }
  if (taken.bits == passed.bits && passed.kind != NumberKind::floating) {
    return TypeFit::fits;
  }
  if (parameter.is_bool) return TypeFit::differs;
  // Numbers of 8 and 16 bits are often taken as the words that hold them.
  if (passed.bits <= kShort && taken.bits >= passed.bits) return TypeFit::fits;
  const bool takes_bits = parameter.is_bytes || parameter.element == ElementType::u32 ||
                          (taken.kind == NumberKind::unsigned_integer && taken.bits == passed.bits);
  return takes_bits ? TypeFit::doubtful : TypeFit::differs;
}

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
