// SPDX-License-Identifier: Apache-2.0
#include "../support/geam_case.hpp"
#include "cuda_fixture.hpp"

#include <type_traits>

namespace tuner::backend {
namespace {

template <class Element>
class CudaGeamTest : public CudaTest {
 protected:
  static constexpr family::ElementType kType =
      std::is_same_v<Element, float> ? family::ElementType::f32 : family::ElementType::f64;
};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(CudaGeamTest, ElementTypes);

TYPED_TEST(CudaGeamTest, AddsInEveryLayoutAndLeavesWhatLiesBetweenTheRows) {
  for (const blas::GeamShape& shape : testing_support::geam_shapes()) {
    const auto made = testing_support::geam_case<TypeParam>(shape, 2, -3);
    const Buffer a = this->upload(made.a);
    const Buffer b = this->upload(made.b);
    const Buffer c = this->upload(made.c);
    const auto done = this->backend().run(LibraryCall{
        .operation = {.type = this->kType, .shape = shape},
        .operands = {.alpha = 2.0, .beta = -3.0, .places = {{a.id(), b.id(), c.id()}}}});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(this->template download<TypeParam>(c), made.result);
  }
}

TYPED_TEST(CudaGeamTest, TransposesWithTheResultInPlaceOfB) {
  blas::GeamShape shape = blas::packed_geam(67, 45, Transpose::yes);
  shape.b = shape.c;
  const auto made = testing_support::geam_case<TypeParam>(shape, 1, 0);
  const Buffer a = this->upload(made.a);
  const Buffer c = this->upload(made.c);
  const auto done =
      this->backend().run(LibraryCall{.operation = {.type = this->kType, .shape = shape},
                                      .operands = {.places = {{a.id(), c.id(), c.id()}}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(this->template download<TypeParam>(c), made.result);
}

}  // namespace
}  // namespace tuner::backend
