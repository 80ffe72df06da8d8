// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/parameter_type.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <vector>

namespace tuner::source {
namespace {

std::optional<ParameterType> read(std::string_view text, const WordSet& macros = {},
                                  const WordSet& types = {}) {
  return parameter_type(tokens_of(text), macros, types);
}

ParameterType pointer(ElementType element) {
  return {.element = element, .is_pointer = true};
}

TEST(ParameterType, OfBuiltInTypes) {
  EXPECT_EQ(read("const float* __restrict__ x"), pointer(ElementType::f32));
  EXPECT_EQ(read("double const *const x"), pointer(ElementType::f64));
  EXPECT_EQ(read("float"), ParameterType{.element = ElementType::f32});
  EXPECT_EQ(read("unsigned n"), ParameterType{.element = ElementType::u32});
  EXPECT_EQ(read("long unsigned int n"), ParameterType{.element = ElementType::u64});
  EXPECT_EQ(read("long long"), ParameterType{.element = ElementType::s64});
  EXPECT_EQ(read("short x[]"), pointer(ElementType::s16));
  EXPECT_EQ(read("short x[4 * 4]"), pointer(ElementType::s16));
  EXPECT_EQ(read("const __nv_bfloat16* x"), pointer(ElementType::bf16));
  EXPECT_EQ(read("std::int64_t* x"), pointer(ElementType::s64));
  EXPECT_TRUE(read("const bool* x")->is_bool);
  EXPECT_TRUE(read("char* x")->is_bytes);
  EXPECT_TRUE(read("uint8_t* x")->is_bytes);
  EXPECT_FALSE(read("signed char* x")->is_bytes);
}

TEST(ParameterType, OfWhatIsNotCertainIsNone) {
  for (const std::string_view text :
       {"T* x", "void* x", "float4* x", "float** x", "float* x[4]", "float& x", "ns::half* x",
        "long double x", "Pixel p", "thrust::complex<float>* x", "[[maybe_unused]] int n",
        "float x[2][2]", "unsigned __int128", "int... n", "const", ""}) {
    EXPECT_EQ(read(text), std::nullopt) << text;
  }
  EXPECT_EQ(read("real float* x", {"real"}), std::nullopt);
  EXPECT_EQ(read("half* x", {}, {"half"}), std::nullopt);
  EXPECT_NE(read("float* half", {}, {"half"}), std::nullopt);
}

/// Every way to take memory that correct kernels use.
TEST(ParameterType, FitsToBuffers) {
  const auto fit = [](std::string_view text, ElementType element) {
    return fit_of_buffer(read(text).value(), element);
  };
  using enum ElementType;
  for (const auto& [text, element] :
       {std::pair("float*", f32), std::pair("float*", tf32), std::pair("bool*", u8),
        std::pair("bool*", s8), std::pair("char*", s8), std::pair("unsigned char*", s8),
        std::pair("signed char*", u8), std::pair("long*", s64), std::pair("size_t*", s64),
        std::pair("int*", u32), std::pair("unsigned*", s32), std::pair("int*", s8),
        std::pair("unsigned*", f16), std::pair("unsigned short*", bf16), std::pair("short*", f16),
        std::pair("unsigned char*", e4m3)}) {
    EXPECT_EQ(fit(text, element), TypeFit::fits) << text << ' ' << name(element);
  }
  for (const auto& [text, element] :
       {std::pair("unsigned char*", f32), std::pair("char*", s32), std::pair("unsigned*", f32),
        std::pair("unsigned*", u64), std::pair("unsigned long long*", f64),
        std::pair("__half*", u16)}) {
    EXPECT_EQ(fit(text, element), TypeFit::doubtful) << text << ' ' << name(element);
  }
  for (const auto& [text, element] :
       {std::pair("double*", f32), std::pair("float*", f64), std::pair("int*", f32),
        std::pair("float*", s32), std::pair("float*", f16), std::pair("__half*", bf16),
        std::pair("__half*", f32), std::pair("size_t*", s32), std::pair("int*", s64),
        std::pair("short*", s32), std::pair("bool*", f32), std::pair("signed char*", f32),
        std::pair("float", f32)}) {
    EXPECT_EQ(fit(text, element), TypeFit::differs) << text << ' ' << name(element);
  }
}

TEST(ParameterType, FitsToNumbers) {
  const auto fit = [](std::string_view text, ElementType element) {
    return fit_of_number(read(text).value(), element);
  };
  using enum ElementType;
  EXPECT_EQ(fit("unsigned n", s32), TypeFit::fits);
  EXPECT_EQ(fit("size_t n", s64), TypeFit::fits);
  EXPECT_EQ(fit("bool flag", u8), TypeFit::fits);
  EXPECT_EQ(fit("float* unused", u64), TypeFit::fits);
  EXPECT_EQ(fit("float a", s32), TypeFit::differs);
  EXPECT_EQ(fit("int n", f32), TypeFit::differs);
  EXPECT_EQ(fit("long n", s32), TypeFit::differs);
  EXPECT_EQ(fit("double a", f32), TypeFit::differs);
  EXPECT_EQ(fit("float* x", f32), TypeFit::differs);
}

}  // namespace
}  // namespace tuner::source
