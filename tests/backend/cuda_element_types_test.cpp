// SPDX-License-Identifier: Apache-2.0
// The table of data types against the CUDA Toolkit's own headers.
#include "tuner/family/element_type.hpp"

#include <gtest/gtest.h>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <library_types.h>

namespace tuner::family {
namespace {

TEST(CudaElementTypes, HaveTheEnumeratorsOfTheirNames) {
#define EXPECT_CUDA(type, enumerator)          \
  EXPECT_EQ(row(type).cuda.name, #enumerator); \
  EXPECT_EQ(row(type).cuda.value, enumerator)
  EXPECT_CUDA(ElementType::f64, CUDA_R_64F);
  EXPECT_CUDA(ElementType::f32, CUDA_R_32F);
  EXPECT_CUDA(ElementType::tf32, CUDA_R_32F);
  EXPECT_CUDA(ElementType::bf16, CUDA_R_16BF);
  EXPECT_CUDA(ElementType::f16, CUDA_R_16F);
  EXPECT_CUDA(ElementType::e4m3, CUDA_R_8F_E4M3);
  EXPECT_CUDA(ElementType::e5m2, CUDA_R_8F_E5M2);
  EXPECT_CUDA(ElementType::s64, CUDA_R_64I);
  EXPECT_CUDA(ElementType::u64, CUDA_R_64U);
  EXPECT_CUDA(ElementType::s32, CUDA_R_32I);
  EXPECT_CUDA(ElementType::u32, CUDA_R_32U);
  EXPECT_CUDA(ElementType::s16, CUDA_R_16I);
  EXPECT_CUDA(ElementType::u16, CUDA_R_16U);
  EXPECT_CUDA(ElementType::s8, CUDA_R_8I);
  EXPECT_CUDA(ElementType::u8, CUDA_R_8U);
#undef EXPECT_CUDA
#define EXPECT_MAP(type, enumerator)                                            \
  EXPECT_EQ(row(type).tensor_map.name, "CU_TENSOR_MAP_DATA_TYPE_" #enumerator); \
  EXPECT_EQ(row(type).tensor_map.value, CU_TENSOR_MAP_DATA_TYPE_##enumerator)
  EXPECT_MAP(ElementType::f64, FLOAT64);
  EXPECT_MAP(ElementType::f32, FLOAT32);
  EXPECT_MAP(ElementType::tf32, TFLOAT32);
  EXPECT_MAP(ElementType::bf16, BFLOAT16);
  EXPECT_MAP(ElementType::f16, FLOAT16);
  EXPECT_MAP(ElementType::e4m3, UINT8);
  EXPECT_MAP(ElementType::e5m2, UINT8);
  EXPECT_MAP(ElementType::s64, INT64);
  EXPECT_MAP(ElementType::u64, UINT64);
  EXPECT_MAP(ElementType::s32, INT32);
  EXPECT_MAP(ElementType::u32, UINT32);
  EXPECT_MAP(ElementType::u16, UINT16);
  EXPECT_MAP(ElementType::u8, UINT8);
#undef EXPECT_MAP
}

/// All bits of 16, and 32 bits at the places where rounding to 16 changes.
template <class Check>
void for_floats(const Check& check) {
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low :
         {0U, 1U, 0xFFFU, 0x1000U, 0x1001U, 0x3000U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      const auto value = std::bit_cast<float>(high << 16 | low);
      if (!std::isnan(value)) check(value);
    }
  }
}

TEST(CudaElementTypes, RoundAsTheToolkitDoes) {
  for_floats([](float value) {
    const auto bits = [&](ElementType type) { return bits_of(type, static_cast<double>(value)); };
    const __nv_bfloat16_raw brain = __float2bfloat16_rn(value);
    ASSERT_EQ(bits(ElementType::bf16), brain.x) << value;
    const __half_raw half = __float2half_rn(value);
    ASSERT_EQ(bits(ElementType::f16), half.x) << value;
    const auto fp8 = [&](__nv_fp8_interpretation_t kind) {
      return __nv_cvt_float_to_fp8(value, __NV_NOSAT, kind);
    };
    const auto is_nan = [](ElementType type, std::uint64_t of) {
      return std::isnan(number_of(type, of));
    };
    for (const auto& [type, kind] :
         {std::pair{ElementType::e4m3, __NV_E4M3}, std::pair{ElementType::e5m2, __NV_E5M2}}) {
      const std::uint64_t ours = bits(type), theirs = fp8(kind);
      ASSERT_TRUE(ours == theirs || (is_nan(type, ours) && is_nan(type, theirs)))
          << name(type) << ' ' << value << ": " << ours << ' ' << theirs;
    }
  });
}

TEST(CudaElementTypes, AreTheNumbersOfTheToolkit) {
  const auto same = [](ElementType type, std::uint64_t bits, double theirs) {
    const double ours = number_of(type, bits);
    return ours == theirs || (std::isnan(ours) && std::isnan(theirs));
  };
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    __nv_bfloat16_raw brain;
    brain.x = static_cast<unsigned short>(bits);
    ASSERT_TRUE(same(ElementType::bf16, bits, double{__bfloat162float(__nv_bfloat16(brain))}))
        << bits;
    __half_raw half;
    half.x = static_cast<unsigned short>(bits);
    ASSERT_TRUE(same(ElementType::f16, bits, double{__half2float(__half(half))})) << bits;
    if (bits > 0xFF) continue;
    const auto fp8 = [&](__nv_fp8_interpretation_t kind) {
      const auto storage = static_cast<__nv_fp8_storage_t>(bits);
      return double{__half2float(__half(__nv_cvt_fp8_to_halfraw(storage, kind)))};
    };
    ASSERT_TRUE(same(ElementType::e4m3, bits, fp8(__NV_E4M3))) << bits;
    ASSERT_TRUE(same(ElementType::e5m2, bits, fp8(__NV_E5M2))) << bits;
  }
}

}  // namespace
}  // namespace tuner::family
