// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_kernels.hpp"

#include "tuner/backend/cpu/cpu_backend.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

namespace tuner {
namespace {

/// Device memory made from and read back to host numbers.
class CheckKernelsFixture : public testing::Test {
 protected:
  template <class T>
  Buffer upload(const std::vector<T>& values) {
    Buffer buffer(*backend, values.size() * sizeof(T));
    backend->write(buffer.id(), std::as_bytes(std::span(values)));
    return buffer;
  }
  template <class T>
  std::vector<T> download(const Buffer& buffer) const {
    std::vector<T> values(buffer.size_bytes() / sizeof(T));
    backend->read(buffer.id(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  std::unique_ptr<Backend> backend = open_cpu_backend();
  CheckKernels kernels{*backend};
};

using CheckKernelsFill = CheckKernelsFixture;

TEST_F(CheckKernelsFill, WholeNumbersTakeEveryValueOfTheRangeEquallyOftenAndFollowTheSeed) {
  constexpr std::int64_t kCount = 300'000;  // more than one pass of the largest grid
  const auto filled = [&](std::uint64_t seed) {
    Buffer buffer(*backend, kCount * sizeof(float));
    kernels.fill_whole(buffer.id(), ElementType::f32, kCount, seed, 3);
    return download<float>(buffer);
  };
  const std::vector<float> numbers = filled(42);
  std::map<float, int> counts;
  for (const float number : numbers) ++counts[number];
  ASSERT_EQ(counts.size(), 7U);
  EXPECT_EQ(counts.begin()->first, -3.0f);
  EXPECT_EQ(counts.rbegin()->first, 3.0f);
  for (const auto& [number, count] : counts) {
    EXPECT_NEAR(count, kCount / 7.0, 1000) << number;  // 5 standard deviations
  }
  EXPECT_EQ(filled(42), numbers);
  EXPECT_NE(filled(43), numbers);
}

TEST_F(CheckKernelsFill, NormalNumbersHaveMeanZeroAndVarianceOneAndFollowTheSeed) {
  constexpr std::int64_t kCount = 100'000;
  const auto filled = [&](std::uint64_t seed) {
    Buffer buffer(*backend, kCount * sizeof(double));
    kernels.fill_normal(buffer.id(), ElementType::f64, kCount, seed);
    return download<double>(buffer);
  };
  const std::vector<double> numbers = filled(42);
  const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / kCount;
  const double square = std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0);
  EXPECT_NEAR(mean, 0.0, 0.016);              // 5 standard deviations
  EXPECT_NEAR(square / kCount, 1.0, 0.0224);  // likewise
  const auto beyond = std::ranges::count_if(numbers, [](double x) { return std::abs(x) > 1.96; });
  EXPECT_NEAR(static_cast<double>(beyond) / kCount, 0.05, 0.0035) << "the shape of the tails";
  EXPECT_EQ(filled(42), numbers);
  EXPECT_NE(filled(43), numbers);
}

TEST_F(CheckKernelsFill, AbsoluteDropsTheSign) {
  const Buffer data = upload<float>({-1.5f, 0.0f, 2.5f});
  const Buffer result(*backend, 3 * sizeof(float));
  kernels.absolute(result.id(), data.id(), ElementType::f32, 3);
  EXPECT_THAT(download<float>(result), testing::ElementsAre(1.5f, 0.0f, 2.5f));
}

/// Comparing in single and in double precision.
template <class T>
class CheckKernelsCompare : public CheckKernelsFixture {
 protected:
  static constexpr ElementType kType = sizeof(T) == 4 ? ElementType::f32 : ElementType::f64;

  Comparison bounded(const std::vector<T>& result, const std::vector<T>& reference,
                     const std::vector<T>& magnitude, double factor) {
    return kernels.compare_bounded(upload(result).id(), upload(reference).id(),
                                   upload(magnitude).id(), kType, count(result), factor);
  }
  Comparison exact(const std::vector<T>& result, const std::vector<T>& reference) {
    return kernels.compare_exact(upload(result).id(), upload(reference).id(), kType, count(result));
  }
  static std::int64_t count(const std::vector<T>& values) {
    return static_cast<std::int64_t>(values.size());
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckKernelsCompare, Floats);

TYPED_TEST(CheckKernelsCompare, FindsExactlyTheWrongElementsAndTheFirstOfThem) {
  using T = TypeParam;
  const std::vector<T> reference(600'000, T{2});  // more than one pass of the largest grid
  std::vector<T> result = reference;
  EXPECT_EQ(this->exact(result, reference).wrong, 0U);
  constexpr std::size_t kFirst = 12'345, kSameThread = kFirst + 1024 * 256;
  for (const std::size_t index : {599'999UL, kSameThread, kFirst}) result[index] = T{3};
  const Comparison found = this->exact(result, reference);
  EXPECT_EQ(found.wrong, 3U);
  EXPECT_EQ(found.first_wrong, kFirst);
  const Comparison bounded =
      this->bounded(result, reference, std::vector<T>(reference.size(), T{1}), 0.5);
  EXPECT_EQ(bounded.wrong, 3U);
  EXPECT_EQ(bounded.first_wrong, kFirst);
  EXPECT_DOUBLE_EQ(bounded.worst_share, 2.0);
}

TYPED_TEST(CheckKernelsCompare, TheBoundItselfIsRightAndTheNextNumberIsWrong) {
  using T = TypeParam;
  const T inside = T{1} + T{0.25};
  const T outside = std::nextafter(inside, T{2});
  for (const T sign : {T{1}, T{-1}}) {
    EXPECT_EQ(this->bounded({sign * inside}, {sign}, {T{0.5}}, 0.5).wrong, 0U);
    EXPECT_EQ(this->bounded({sign * outside}, {sign}, {T{0.5}}, 0.5).wrong, 1U);
    EXPECT_EQ(this->bounded({sign * T{0.75}}, {sign}, {T{0.5}}, 0.5).wrong, 0U);
    EXPECT_EQ(this->bounded({sign * std::nextafter(T{0.75}, T{0})}, {sign}, {T{0.5}}, 0.5).wrong,
              1U);
  }
  EXPECT_DOUBLE_EQ(
      this->bounded({inside, T{1.125}}, {T{1}, T{1}}, {T{0.5}, T{0.5}}, 0.5).worst_share, 1.0);
  EXPECT_EQ(this->bounded({T{0}}, {T{0}}, {T{0}}, 0.5).wrong, 0U) << "nothing was summed";
  EXPECT_EQ(this->bounded({T(1e-30)}, {T{0}}, {T{0}}, 0.5).wrong, 1U) << "nothing was summed";
}

TYPED_TEST(CheckKernelsCompare, NaNAndInfinityAreWrong) {
  using T = TypeParam;
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (const T bad : {kNaN, kInfinity, -kInfinity}) {
    const Comparison exact = this->exact({T{1}, bad}, {T{1}, T{1}});
    EXPECT_EQ(exact.wrong, 1U) << bad;
    EXPECT_EQ(exact.first_wrong, 1U) << bad;
    const Comparison bounded = this->bounded({T{1}, bad}, {T{1}, T{1}}, {T{1}, T{1}}, 0.5);
    EXPECT_EQ(bounded.wrong, 1U) << bad;
    EXPECT_EQ(bounded.first_wrong, 1U) << bad;
    EXPECT_GT(bounded.worst_share, 1.0) << bad;
  }
}

TEST_F(CheckKernelsFixture, PicksAnElementOfBoth) {
  const Buffer results = upload<float>({1, 2, 3}), references = upload<float>({4, 5, 6});
  const auto [result, reference] = kernels.pick(results.id(), references.id(), ElementType::f32, 2);
  EXPECT_EQ(result, 3);
  EXPECT_EQ(reference, 6);
}

TEST_F(CheckKernelsFixture, WholeNumbersBeyondADoubleAreComparedExactly) {
  const std::int64_t large = (std::int64_t{1} << 53) + 1;
  const Buffer result = upload<std::int64_t>({large}),
               reference = upload<std::int64_t>({large - 1});
  EXPECT_EQ(kernels.compare_exact(result.id(), reference.id(), ElementType::i64, 1).wrong, 1U);
  EXPECT_EQ(kernels.compare_exact(result.id(), result.id(), ElementType::i64, 1).wrong, 0U);
}

}  // namespace
}  // namespace tuner
