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
  for (const blas::GemmShape& shape : testing_support::gemm_shapes()) {
    const auto made = testing_support::gemm_case<TypeParam>(shape, 2, -3);
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

using CudaLibraryTest = CudaTest;

TEST_F(CudaLibraryTest, MultipliesNumbersOf16BitsAndRoundsOnce) {
  for (const auto type : {family::ElementType::bf16, family::ElementType::f16}) {
    for (const blas::GemmShape& shape : testing_support::gemm_shapes()) {
      const auto made = testing_support::gemm_case<float>(shape, 2, -3);
      const Buffer a = upload(testing_support::shortened(type, made.a));
      const Buffer b = upload(testing_support::shortened(type, made.b));
      const auto run = [&](const Buffer& c, family::ElementType result) {
        const auto done = backend().run(LibraryCall{
            .operation = {.type = type, .result = result, .shape = shape},
            .operands = {.alpha = 2, .beta = -3, .places = {{a.id(), b.id(), c.id()}}}});
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

TEST_F(CudaLibraryTest, MultipliesByEachAlgorithmThatItOffers) {
  using enum family::ElementType;
  for (const auto type : {f32, bf16, f16}) {
    const blas::GemmShape shape = blas::packed_gemm(64, 96, 256, Transpose::no, Transpose::yes, 2);
    const auto made = testing_support::gemm_case<float>(shape, 2, -3);
    const auto matrix = [&](const std::vector<float>& numbers) {
      return type == f32 ? upload(numbers) : upload(testing_support::shortened(type, numbers));
    };
    const Buffer a = matrix(made.a), b = matrix(made.b), first = matrix(made.c);
    LibraryCall call{
        .operation = {.type = type, .shape = shape},
        .operands = {.alpha = 2, .beta = -3, .places = {{a.id(), b.id(), first.id()}}}};
    const std::vector<std::string> algorithms = backend().library_algorithms(call);
    EXPECT_GT(algorithms.size(), 1U) << family::name(type);
    EXPECT_LE(algorithms.size(), 8U);
    for (const std::string& algorithm : algorithms) {
      const Buffer c = matrix(made.c);
      call.operands[blas::kC] = c.id();
      call.algorithm = algorithm;
      const auto done = backend().run(call);
      ASSERT_TRUE(done) << algorithm << ": " << done.error().message;
      if (type == f32) {
        EXPECT_EQ(download<float>(c), made.result) << algorithm;
      } else {
        EXPECT_EQ(download<std::uint16_t>(c), testing_support::shortened(type, made.result))
            << algorithm;
      }
    }
  }
}

TEST_F(CudaLibraryTest, TakesNoAlgorithmOfAnotherVersion) {
  const Buffer buffer = upload(std::vector<float>(64));
  LibraryCall call{
      .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(8, 8, 8)},
      .operands = {.places = {{buffer.id(), buffer.id(), buffer.id()}}}};
  call.algorithm = backend().library_algorithms(call).at(0);
  EXPECT_TRUE(backend().run(call));
  call.algorithm.replace(call.algorithm.find('/') + 1, 1, "9");
  const auto done = backend().run(call);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().outcome, Outcome::launch_error);
  EXPECT_NE(done.error().message.find("the algorithm is of cublasLt 9"), std::string::npos)
      << done.error().message;
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
  ASSERT_TRUE(backend().run(LibraryCall{
      .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(size, size, size)},
      .operands = {.places = {{a.id(), b.id(), c.id()}}}}));
  EXPECT_EQ(download<float>(c), std::vector<float>(size * size, fine));
}

TEST_F(CudaLibraryTest, RefusesToMultiplyBuffersThatAreTooSmall) {
  const Buffer small(backend(), 4);
  EXPECT_THROW(
      static_cast<void>(backend().run(LibraryCall{
          .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(2, 2, 2)},
          .operands = {.places = {{small.id(), small.id(), small.id()}}}})),
      Error);
}

}  // namespace
}  // namespace tuner::backend
