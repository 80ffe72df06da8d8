// SPDX-License-Identifier: Apache-2.0
// What the cpu backend has OpenBLAS multiply, and what it adds itself.
#include "../support/geam_case.hpp"
#include "../support/gemm_case.hpp"
#include "cpu_fixture.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace tuner::backend {
namespace {

template <class T>
class CpuLibrary : public CpuBackendTest {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(CpuLibrary, Floats);

TYPED_TEST(CpuLibrary, MultipliesInEveryLayoutAndLeavesWhatLiesBetweenTheRows) {
  for (const family::GemmShape& shape : testing_support::gemm_shapes()) {
    const auto made = testing_support::gemm_case<TypeParam>(shape, 2, -3);
    const BufferId c = this->upload(made.c);
    const auto done = this->backend().run(LibraryCall{
        .operation = {.type = std::is_same_v<TypeParam, float> ? family::ElementType::f32
                                                               : family::ElementType::f64,
                      .shape = shape},
        .alpha = 2,
        .beta = -3,
        .a = this->upload(made.a),
        .b = this->upload(made.b),
        .c = c});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(this->template download<TypeParam>(c, made.c.size()), made.result);
  }
}

TYPED_TEST(CpuLibrary, ReadsNoMatrixWhereAlphaIsZero) {
  const family::GemmShape shape = family::packed_gemm(4, 4, 4, Transpose::no, Transpose::no);
  const std::vector<TypeParam> unread(16, std::numeric_limits<TypeParam>::quiet_NaN());
  const BufferId c = this->upload(std::vector<TypeParam>(16, 3));
  const auto done = this->backend().run(
      LibraryCall{.operation = {.type = std::is_same_v<TypeParam, float> ? family::ElementType::f32
                                                                         : family::ElementType::f64,
                                .shape = shape},
                  .alpha = 0,
                  .beta = 2,
                  .a = this->upload(unread),
                  .b = this->upload(unread),
                  .c = c});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(this->template download<TypeParam>(c, 16), std::vector<TypeParam>(16, 6));
}

TYPED_TEST(CpuLibrary, AddsInEveryLayoutAndReadsNoMatrixThatHasAFactorOfZero) {
  constexpr auto kType =
      std::is_same_v<TypeParam, float> ? family::ElementType::f32 : family::ElementType::f64;
  for (const family::GeamShape& shape : testing_support::geam_shapes()) {
    for (const auto& [alpha, beta] : {std::pair{2, -3}, std::pair{1, 0}, std::pair{0, 1}}) {
      const auto made = testing_support::geam_case<TypeParam>(shape, static_cast<TypeParam>(alpha),
                                                              static_cast<TypeParam>(beta));
      const BufferId c = this->upload(made.c);
      LibraryCall call{.operation = {.type = kType, .shape = shape}, .a = {}, .b = {}, .c = c};
      call.alpha = alpha;
      call.beta = beta;
      call.a = this->upload(made.a);
      call.b = this->upload(made.b);
      const auto done = this->backend().run(call);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(this->template download<TypeParam>(c, made.c.size()), made.result);
    }
  }
}

using CpuLibraryCall = CpuBackendTest;

TEST_F(CpuLibraryCall, MultipliesNumbersOf16BitsAndRoundsOnce) {
  for (const auto type : {family::ElementType::bf16, family::ElementType::f16}) {
    for (const family::GemmShape& shape : testing_support::gemm_shapes()) {
      const auto made = testing_support::gemm_case<float>(shape, 2, -3);
      const auto run = [&](BufferId c, family::ElementType result) {
        const auto done =
            backend().run(LibraryCall{.operation = {.type = type, .result = result, .shape = shape},
                                      .alpha = 2,
                                      .beta = -3,
                                      .a = upload(testing_support::shortened(type, made.a)),
                                      .b = upload(testing_support::shortened(type, made.b)),
                                      .c = c});
        ASSERT_TRUE(done) << done.error().message;
      };
      const BufferId same = upload(testing_support::shortened(type, made.c));
      run(same, type);
      EXPECT_EQ(download<std::uint16_t>(same, made.c.size()),
                testing_support::shortened(type, made.result));
      const BufferId floats = upload(made.c);
      run(floats, family::ElementType::f32);
      EXPECT_EQ(download<float>(floats, made.c.size()), made.result);
    }
  }
}

TEST_F(CpuLibraryCall, MultipliesByEachAlgorithmThatItOffers) {
  for (const auto type : {family::ElementType::f32, family::ElementType::bf16}) {
    for (const family::GemmShape& shape : testing_support::gemm_shapes()) {
      const auto made = testing_support::gemm_case<float>(shape, 2, -3);
      const bool is_short = type == family::ElementType::bf16;
      const auto matrix = [&](const std::vector<float>& numbers) {
        return is_short ? upload(testing_support::shortened(type, numbers)) : upload(numbers);
      };
      LibraryCall call{.operation = {.type = type, .shape = shape},
                       .alpha = 2,
                       .beta = -3,
                       .a = matrix(made.a),
                       .b = matrix(made.b),
                       .c = {}};
      const std::vector<std::string> algorithms = backend().library_algorithms(call);
      ASSERT_EQ(algorithms.size(), 1U);
      call.algorithm = algorithms.front();
      call.c = matrix(made.c);
      const auto done = backend().run(call);
      ASSERT_TRUE(done) << done.error().message;
      if (is_short) {
        EXPECT_EQ(download<std::uint16_t>(call.c.buffer, made.c.size()),
                  testing_support::shortened(type, made.result));
      } else {
        EXPECT_EQ(download<float>(call.c.buffer, made.c.size()), made.result);
      }
    }
  }
}

TEST_F(CpuLibraryCall, HasAChoiceForSmallProductsOnlyAndTakesNoAlgorithmOfAnotherLibrary) {
  const auto offered = [&](family::ElementType type, std::int64_t size) {
    return backend().library_algorithms(
        {.operation = {.type = type, .shape = family::packed_gemm(size, size, size)},
         .a = {},
         .b = {},
         .c = {}});
  };
  EXPECT_TRUE(offered(family::ElementType::f32, 1024).empty());
  EXPECT_TRUE(offered(family::ElementType::s8, 8).empty()) << "which it multiplies by loops";
  const BufferId buffer = upload(std::vector<float>(64));
  const auto done = backend().run(LibraryCall{
      .operation = {.type = family::ElementType::f32, .shape = family::packed_gemm(8, 8, 8)},
      .a = buffer,
      .b = buffer,
      .c = buffer,
      .algorithm = "cublasLt/130100/16/0"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().outcome, Outcome::launch_error);
  EXPECT_EQ(done.error().message, "'cublasLt/130100/16/0' is no algorithm of the host's library");
}

TEST_F(CpuLibraryCall, RefusesWhatCannotBeMultiplied) {
  const BufferId buffer = upload(std::vector<float>(1000));
  const auto error = [&](const std::function<void(family::GemmShape&)>& change) -> std::string {
    family::GemmShape shape = family::packed_gemm(3, 4, 5, Transpose::no, Transpose::yes, 2);
    change(shape);
    try {
      static_cast<void>(
          backend().run(LibraryCall{.operation = {.type = family::ElementType::f32, .shape = shape},
                                    .a = buffer,
                                    .b = buffer,
                                    .c = buffer}));
      return "accepted";
    } catch (const Error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(error([](family::GemmShape&) {}), "accepted");
  EXPECT_EQ(error([](family::GemmShape& shape) { shape.b.ld = 4; }),
            "gemm: ldb is 4, less than a row of b is long: 5");
  EXPECT_EQ(error([](family::GemmShape& shape) { shape.a.stride = -1; }),
            "gemm: stride_a is -1; it must be at least 0");
  EXPECT_EQ(error([](family::GemmShape& shape) { shape.c.stride = 11; }),
            "gemm: stride_c is 11, but a matrix of c takes 12 elements: they would overlap");
  EXPECT_THAT(error([](family::GemmShape& shape) { shape.batch = 0; }),
              testing::HasSubstr("batch=0"));
  EXPECT_THAT(error([](family::GemmShape& shape) { shape.a.ld = std::int64_t{1} << 60; }),
              testing::HasSubstr("do not fit in memory"));
  EXPECT_THAT(error([](family::GemmShape& shape) { shape.b.stride = 990; }),
              testing::HasSubstr("bytes asked of a buffer of 4000"));
}

TEST_F(CpuLibraryCall, RefusesWhatCannotBeAdded) {
  const BufferId buffer = upload(std::vector<float>(1000));
  const auto error = [&](const std::function<void(family::GeamShape&)>& change) -> std::string {
    family::GeamShape shape = family::packed_geam(3, 4, Transpose::yes);
    change(shape);
    try {
      static_cast<void>(
          backend().run(LibraryCall{.operation = {.type = family::ElementType::f32, .shape = shape},
                                    .a = buffer,
                                    .b = buffer,
                                    .c = buffer}));
      return "accepted";
    } catch (const Error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(error([](family::GeamShape&) {}), "accepted");
  EXPECT_EQ(error([](family::GeamShape& shape) { shape.a.ld = 2; }),
            "geam: lda is 2, less than a row of a is long: 3");
  EXPECT_EQ(error([](family::GeamShape& shape) { shape.m = -1; }),
            "geam: m=-1, n=4: neither can be negative");
  EXPECT_THAT(error([](family::GeamShape& shape) { shape.c.ld = 999; }),
              testing::HasSubstr("bytes asked of a buffer of 4000"));
}

}  // namespace
}  // namespace tuner::backend
