// SPDX-License-Identifier: Apache-2.0
#include "tuner/source/parameter_type.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

namespace tuner::source {
namespace {

/// As sizeof and alignof say in CUDA's vector_types.h.
TEST(VectorType, HasTheElementsAndTheAlignmentOfCudasHeaders) {
  for (const auto& [name, element, width, align_bytes] :
       {std::tuple(std::string_view("float4"), ElementType::f32, 4, 16),
        {"float3", ElementType::f32, 3, 4},
        {"uchar4", ElementType::u8, 4, 4},
        {"char1", ElementType::s8, 1, 1},
        {"ushort2", ElementType::u16, 2, 4},
        {"longlong4", ElementType::s64, 4, 16},
        {"double2", ElementType::f64, 2, 16},
        {"__half2", ElementType::f16, 2, 4},
        {"__nv_bfloat162", ElementType::bf16, 2, 4}}) {
    const auto found = vector_type(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->element, element) << name;
    EXPECT_EQ(found->width, width) << name;
    EXPECT_EQ(found->align_bytes, align_bytes) << name;
  }
  for (const std::string_view name : {"", "4", "float", "float5", "half4", "myfloat4", "float42"}) {
    EXPECT_FALSE(vector_type(name)) << name;
  }
}

}  // namespace
}  // namespace tuner::source
