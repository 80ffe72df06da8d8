// SPDX-License-Identifier: Apache-2.0
// What the cpu backend has OpenBLAS multiply, and what it adds itself.
#include "../support/geam_case.hpp"
#include "../support/gemm_case.hpp"
#include "cpu_fixture.hpp"
#include "tuner/backend/cpu/host_library.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace tuner::backend {
namespace {

template <class T>
class CpuLibrary : public CpuBackendTest {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(CpuLibrary, Floats);

TYPED_TEST(CpuLibrary, MultipliesInEveryLayoutAndLeavesWhatLiesBetweenTheRows) {
  for (const blas::GemmShape& shape : testing_support::gemm_shapes()) {
    const auto made = testing_support::gemm_case<TypeParam>(shape, 2, -3);
    const BufferId c = this->upload(made.c);
    const auto done = this->backend().run(LibraryCall{
        .operation = {.type = std::is_same_v<TypeParam, float> ? family::ElementType::f32
                                                               : family::ElementType::f64,
                      .shape = shape},
        .operands = {
            .alpha = 2, .beta = -3, .places = {{this->upload(made.a), this->upload(made.b), c}}}});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(this->template download<TypeParam>(c, made.c.size()), made.result);
  }
}

TYPED_TEST(CpuLibrary, AddsInEveryLayoutAndReadsNoMatrixThatHasAFactorOfZero) {
  constexpr auto kType =
      std::is_same_v<TypeParam, float> ? family::ElementType::f32 : family::ElementType::f64;
  for (const blas::GeamShape& shape : testing_support::geam_shapes()) {
    for (const auto& [alpha, beta] : {std::pair{2, -3}, std::pair{1, 0}, std::pair{0, 1}}) {
      const auto made = testing_support::geam_case<TypeParam>(shape, static_cast<TypeParam>(alpha),
                                                              static_cast<TypeParam>(beta));
      const BufferId c = this->upload(made.c);
      LibraryCall call{.operation = {.type = kType, .shape = shape},
                       .operands = {.places = {{{}, {}, c}}}};
      call.operands.alpha = alpha;
      call.operands.beta = beta;
      call.operands[blas::kA] = this->upload(made.a);
      call.operands[blas::kB] = this->upload(made.b);
      const auto done = this->backend().run(call);
      ASSERT_TRUE(done) << done.error().message;
      EXPECT_EQ(this->template download<TypeParam>(c, made.c.size()), made.result);
    }
  }
}

using CpuLibraryCall = CpuBackendTest;

TEST_F(CpuLibraryCall, MultipliesNumbersOf16BitsAndRoundsOnce) {
  for (const auto type : {family::ElementType::bf16, family::ElementType::f16}) {
    for (const blas::GemmShape& shape : testing_support::gemm_shapes()) {
      const auto made = testing_support::gemm_case<float>(shape, 2, -3);
      const auto run = [&](BufferId c, family::ElementType result) {
        const auto done = backend().run(LibraryCall{
            .operation = {.type = type, .result = result, .shape = shape},
            .operands = {.alpha = 2,
                         .beta = -3,
                         .places = {{upload(testing_support::shortened(type, made.a)),
                                     upload(testing_support::shortened(type, made.b)), c}}}});
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
    for (const blas::GemmShape& shape : testing_support::gemm_shapes()) {
      const auto made = testing_support::gemm_case<float>(shape, 2, -3);
      const bool is_short = type == family::ElementType::bf16;
      const auto matrix = [&](const std::vector<float>& numbers) {
        return is_short ? upload(testing_support::shortened(type, numbers)) : upload(numbers);
      };
      LibraryCall call{
          .operation = {.type = type, .shape = shape},
          .operands = {.alpha = 2, .beta = -3, .places = {{matrix(made.a), matrix(made.b), {}}}}};
      const std::vector<std::string> algorithms = backend().library_algorithms(call);
      ASSERT_EQ(algorithms.size(), 1U);
      call.algorithm = algorithms.front();
      call.operands[blas::kC] = matrix(made.c);
      const auto done = backend().run(call);
      ASSERT_TRUE(done) << done.error().message;
      if (is_short) {
        EXPECT_EQ(download<std::uint16_t>(call.operands[blas::kC].buffer, made.c.size()),
                  testing_support::shortened(type, made.result));
      } else {
        EXPECT_EQ(download<float>(call.operands[blas::kC].buffer, made.c.size()), made.result);
      }
    }
  }
}

/// C of 4 by 4 elements `old` after a product of A and B whose elements are `operand`.
template <class Element, class Result>
std::vector<Result> scaled(family::ElementType type, family::ElementType result, double alpha,
                           double beta, Element operand, Result old, const char* algorithm) {
  const std::vector<Element> operands(16, operand);
  std::vector<Result> c(16, old);
  const blas::Operation operation = {
      .type = type, .result = result, .shape = blas::packed_gemm(4, 4, 4)};
  const blas::Addresses matrices = {
      .alpha = alpha, .beta = beta, .places = {{operands.data(), operands.data(), c.data()}}};
  const auto done = *algorithm == 0 ? run_host_library(operation, matrices)
                                    : run_host_library(operation, matrices, algorithm);
  EXPECT_TRUE(done) << done.error().message;
  return c;
}

TEST(CpuLibraryFactors, WhatHasAFactorOfZeroLeavesNoNan) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::uint16_t kHalfNan = 0x7E00, kBrainNan = 0x7FC0;
  using enum family::ElementType;
  for (const char* algorithm : {"", "host/1/loops"}) {
    SCOPED_TRACE(algorithm);
    EXPECT_THAT(scaled<float>(f32, f32, 0, 2, kNan, 3.0F, algorithm), testing::Each(6));
    EXPECT_THAT(scaled<float>(f32, f32, 1, 0, 1, kNan, algorithm), testing::Each(4));
    EXPECT_THAT(scaled<double>(f64, f64, 0, 2, kNan, 3.0, algorithm), testing::Each(6));
    EXPECT_THAT(
        scaled<double>(f64, f64, 1, 0, 1, std::numeric_limits<double>::quiet_NaN(), algorithm),
        testing::Each(4));
    EXPECT_THAT(scaled(f16, f16, 0, 1, kHalfNan, std::uint16_t{0x3C00}, algorithm),
                testing::Each(0x3C00));
    EXPECT_THAT(scaled(f16, f16, 1, 0, std::uint16_t{0x3C00}, kHalfNan, algorithm),
                testing::Each(0x4400));
    EXPECT_THAT(scaled(bf16, f32, 0, 1, kBrainNan, 3.0F, algorithm), testing::Each(3));
    EXPECT_THAT(scaled(bf16, f32, 1, 0, std::uint16_t{0x3F80}, kNan, algorithm), testing::Each(4));
  }
}

/// Memory that is there only where it is used.
template <class Element>
class SparseMemory {
 public:
  explicit SparseMemory(std::size_t elements)
      : bytes_(elements * sizeof(Element)),
        memory_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::runtime_error("no address space");
  }
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  ~SparseMemory() { ::munmap(memory_, bytes_); }
  Element& operator[](std::size_t i) { return static_cast<Element*>(memory_)[i]; }

 private:
  std::size_t bytes_;
  void* memory_;
};

template <class Element>
void expect_product_of_far_rows(family::ElementType type, Element one, Element two) {
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  SparseMemory<Element> a(kFar + 2);
  a[0] = one, a[1] = two, a[kFar] = two, a[kFar + 1] = one;
  const std::array<Element, 2> b = {one, two};
  std::array<float, 2> c = {};
  blas::GemmShape shape = blas::packed_gemm(2, 1, 2);
  shape.a.ld = kFar;
  const auto done =
      run_host_library({.type = type, .result = family::ElementType::f32, .shape = shape},
                       {.places = {{&a[0], b.data(), c.data()}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(c, testing::ElementsAre(5, 4));
}

TEST(CpuLibraryLayouts, RowsMayBeFurtherApartThanOpenBlasCanExpress) {
  expect_product_of_far_rows<float>(family::ElementType::f32, 1, 2);
  expect_product_of_far_rows<std::uint16_t>(family::ElementType::bf16, 0x3F80, 0x4000);
}

TEST(CpuLibraryLayouts, ASingleRowHasAnyLeadingDimension) {
  const std::vector<float> a = {1, 2}, b = {3, 4, 5, 6};
  std::vector<float> c(2);
  blas::GemmShape shape = blas::packed_gemm(1, 2, 2);
  shape.a.ld = shape.c.ld = std::int64_t{1} << 40;
  const auto done = run_host_library({.type = family::ElementType::f32, .shape = shape},
                                     {.places = {{a.data(), b.data(), c.data()}}});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_THAT(c, testing::ElementsAre(13, 16));
}

TEST_F(CpuLibraryCall, HasAChoiceForSmallProductsOnlyAndTakesNoAlgorithmOfAnotherLibrary) {
  const auto offered = [&](family::ElementType type, std::int64_t size) {
    return backend().library_algorithms(
        {.operation = {.type = type, .shape = blas::packed_gemm(size, size, size)},
         .operands = {}});
  };
  EXPECT_TRUE(offered(family::ElementType::f32, 1024).empty());
  EXPECT_TRUE(offered(family::ElementType::s8, 8).empty()) << "which it multiplies by loops";
  const BufferId buffer = upload(std::vector<float>(64));
  const auto done = backend().run(LibraryCall{
      .operation = {.type = family::ElementType::f32, .shape = blas::packed_gemm(8, 8, 8)},
      .operands = {.places = {{buffer, buffer, buffer}}},
      .algorithm = "cublasLt/130100/16/0"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().outcome, Outcome::launch_error);
  EXPECT_EQ(done.error().message, "'cublasLt/130100/16/0' is no algorithm of the host's library");
}

TEST_F(CpuLibraryCall, RefusesWhatCannotBeMultiplied) {
  const BufferId buffer = upload(std::vector<float>(1000));
  const auto error = [&](const std::function<void(blas::GemmShape&)>& change) -> std::string {
    blas::GemmShape shape = blas::packed_gemm(3, 4, 5, Transpose::no, Transpose::yes, 2);
    change(shape);
    try {
      static_cast<void>(
          backend().run(LibraryCall{.operation = {.type = family::ElementType::f32, .shape = shape},
                                    .operands = {.places = {{buffer, buffer, buffer}}}}));
      return "accepted";
    } catch (const Error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(error([](blas::GemmShape&) {}), "accepted");
  EXPECT_EQ(error([](blas::GemmShape& shape) { shape.b.ld = 4; }),
            "gemm: ldb is 4, less than a row of b is long: 5");
  EXPECT_EQ(error([](blas::GemmShape& shape) { shape.a.stride = -1; }),
            "gemm: stride_a is -1; it must be at least 0");
  EXPECT_EQ(error([](blas::GemmShape& shape) { shape.c.stride = 11; }),
            "gemm: stride_c is 11, but a matrix of c takes 12 elements: they would overlap");
  EXPECT_THAT(error([](blas::GemmShape& shape) { shape.batch = 0; }),
              testing::HasSubstr("batch=0"));
  EXPECT_THAT(error([](blas::GemmShape& shape) { shape.a.ld = std::int64_t{1} << 60; }),
              testing::HasSubstr("do not fit in memory"));
  EXPECT_THAT(error([](blas::GemmShape& shape) { shape.b.stride = 990; }),
              testing::HasSubstr("bytes asked of a buffer of 4000"));
}

TEST_F(CpuLibraryCall, RefusesWhatCannotBeAdded) {
  const BufferId buffer = upload(std::vector<float>(1000));
  const auto error = [&](const std::function<void(blas::GeamShape&)>& change) -> std::string {
    blas::GeamShape shape = blas::packed_geam(3, 4, Transpose::yes);
    change(shape);
    try {
      static_cast<void>(
          backend().run(LibraryCall{.operation = {.type = family::ElementType::f32, .shape = shape},
                                    .operands = {.places = {{buffer, buffer, buffer}}}}));
      return "accepted";
    } catch (const Error& refused) {
      return refused.what();
    }
  };
  EXPECT_EQ(error([](blas::GeamShape&) {}), "accepted");
  EXPECT_EQ(error([](blas::GeamShape& shape) { shape.a.ld = 2; }),
            "geam: lda is 2, less than a row of a is long: 3");
  EXPECT_EQ(error([](blas::GeamShape& shape) { shape.m = -1; }),
            "geam: m=-1, n=4: neither can be negative");
  EXPECT_THAT(error([](blas::GeamShape& shape) { shape.c.ld = 999; }),
              testing::HasSubstr("bytes asked of a buffer of 4000"));
}

}  // namespace
}  // namespace tuner::backend
