// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"

namespace tuner {
namespace {

/// Integers from -3 to 3, with which a short sum of products is exact whatever its order.
template <class Element>
std::vector<Element> small_integers(std::size_t count, std::size_t seed) {
  std::vector<Element> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<Element>((i * i + seed * i + seed) % 7) - 3;
  }
  return values;
}

template <class Element>
class CudaGemmTest : public CudaTest {
 protected:
  static constexpr ElementType kType =
      std::is_same_v<Element, float> ? ElementType::f32 : ElementType::f64;
};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaGemmTest, ElementTypes);

TYPED_TEST(CudaGemmTest, MultipliesRowMajorMatricesThatAreNotSquare) {
  constexpr std::size_t m = 37, n = 53, k = 29;
  const auto a = small_integers<TypeParam>(m * k, 1);
  const auto b = small_integers<TypeParam>(k * n, 2);
  auto c = small_integers<TypeParam>(m * n, 3);
  const Buffer device_a = this->upload(a);
  const Buffer device_b = this->upload(b);
  const Buffer device_c = this->upload(c);

  const auto done = this->backend().run(GemmCall{.type = this->kType,
                                                 .m = m,
                                                 .n = n,
                                                 .k = k,
                                                 .alpha = 2.0,
                                                 .beta = -3.0,
                                                 .a = device_a.id(),
                                                 .b = device_b.id(),
                                                 .c = device_c.id()});
  ASSERT_TRUE(done) << done.error().message;

  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      TypeParam sum = 0;
      for (std::size_t p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = 2 * sum - 3 * c[i * n + j];
    }
  }
  EXPECT_EQ(this->template download<TypeParam>(device_c), c);
}

using CudaGemmCallTest = CudaTest;

/// TensorFloat-32 would keep 10 bits of 1 + 2^-20 and lose the difference to 1.
TEST_F(CudaGemmCallTest, MultipliesFloatsInFullPrecision) {
  constexpr std::size_t size = 256;
  const float fine = 1.0F + 0x1p-20F;
  std::vector<float> identity(size * size, 0.0F);
  for (std::size_t i = 0; i < size; ++i) identity[i * size + i] = 1.0F;
  const Buffer a = upload(std::vector<float>(size * size, fine));
  const Buffer b = upload(identity);
  const Buffer c(backend(), a.size_bytes());
  ASSERT_TRUE(backend().run(
      GemmCall{.m = size, .n = size, .k = size, .a = a.id(), .b = b.id(), .c = c.id()}));
  EXPECT_EQ(download<float>(c), std::vector<float>(size * size, fine));
}

TEST_F(CudaGemmCallTest, RefusesToMultiplyBuffersThatAreTooSmall) {
  const Buffer small(backend(), 4);
  EXPECT_THROW(static_cast<void>(backend().run(GemmCall{
                   .m = 2, .n = 2, .k = 2, .a = small.id(), .b = small.id(), .c = small.id()})),
               Error);
}

}  // namespace
}  // namespace tuner
