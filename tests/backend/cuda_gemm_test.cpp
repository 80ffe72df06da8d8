// SPDX-License-Identifier: Apache-2.0
#include "../support/gemm_case.hpp"
#include "cuda_fixture.hpp"

namespace tuner::backend {
namespace {

template <class Element>
class CudaGemmTest : public CudaTest {
 protected:
  static constexpr family::ElementType kType =
      std::is_same_v<Element, float> ? family::ElementType::f32 : family::ElementType::f64;
};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaGemmTest, ElementTypes);

TYPED_TEST(CudaGemmTest, MultipliesInEveryLayoutAndLeavesWhatLiesBetweenTheRows) {
  for (const family::GemmShape& shape : testing_support::gemm_shapes()) {
    const auto made = testing_support::gemm_case<TypeParam>(shape, 2, -3);
    const Buffer a = this->upload(made.a);
    const Buffer b = this->upload(made.b);
    const Buffer c = this->upload(made.c);
    const auto done =
        this->backend().run(LibraryCall{.operation = {.type = this->kType, .shape = shape},
                                        .alpha = 2.0,
                                        .beta = -3.0,
                                        .a = a.id(),
                                        .b = b.id(),
                                        .c = c.id()});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(this->template download<TypeParam>(c), made.result);
  }
}

using CudaLibraryTest = CudaTest;

TEST_F(CudaLibraryTest, MultipliesNumbersOf16BitsAndRoundsOnce) {
  for (const auto type : {family::ElementType::bf16, family::ElementType::f16}) {
    for (const family::GemmShape& shape : testing_support::gemm_shapes()) {
      const auto made = testing_support::gemm_case<float>(shape, 2, -3);
      const Buffer a = upload(testing_support::shortened(type, made.a));
      const Buffer b = upload(testing_support::shortened(type, made.b));
      const auto run = [&](const Buffer& c, family::ElementType result) {
        const auto done =
            backend().run(LibraryCall{.operation = {.type = type, .result = result, .shape = shape},
                                      .alpha = 2,
                                      .beta = -3,
                                      .a = a.id(),
                                      .b = b.id(),
                                      .c = c.id()});
        ASSERT_TRUE(done) << done.error().message;
      };
      const Buffer same = upload(testing_support::shortened(type, made.c));
      run(same, type);
      EXPECT_EQ(download<std::uint16_t>(same), testing_support::shortened(type, made.result));
      const Buffer floats = upload(made.c);
      run(floats, family::ElementType::f32);
      EXPECT_EQ(download<float>(floats), made.result);
    }
  }
}

/// TensorFloat-32 would keep 10 bits of 1 + 2^-20 and lose the difference to 1.
TEST_F(CudaLibraryTest, MultipliesFloatsInFullPrecision) {
  constexpr std::size_t size = 256;
  const float fine = 1.0F + 0x1p-20F;
  std::vector<float> identity(size * size, 0.0F);
  for (std::size_t i = 0; i < size; ++i) identity[i * size + i] = 1.0F;
  const Buffer a = upload(std::vector<float>(size * size, fine));
  const Buffer b = upload(identity);
  const Buffer c(backend(), a.size_bytes());
  ASSERT_TRUE(
      backend().run(LibraryCall{.operation = {.shape = family::packed_gemm(size, size, size)},
                                .a = a.id(),
                                .b = b.id(),
                                .c = c.id()}));
  EXPECT_EQ(download<float>(c), std::vector<float>(size * size, fine));
}

TEST_F(CudaLibraryTest, RefusesToMultiplyBuffersThatAreTooSmall) {
  const Buffer small(backend(), 4);
  EXPECT_THROW(static_cast<void>(
                   backend().run(LibraryCall{.operation = {.shape = family::packed_gemm(2, 2, 2)},
                                             .a = small.id(),
                                             .b = small.id(),
                                             .c = small.id()})),
               Error);
}

}  // namespace
}  // namespace tuner::backend
