// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_kernels.hpp"

#include "tuner/backend/cpu/cpu_backend.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <type_traits>
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

TEST_F(CheckKernelsFill, NumbersOfUnsignedTypesAreSmallToo) {
  constexpr std::int64_t kCount = 40'000;
  Buffer buffer(*backend, kCount * sizeof(std::uint16_t));
  kernels.fill_whole(buffer.id(), ElementType::u16, kCount, 42, 3);
  std::map<int, int> counts;
  for (const std::uint16_t number : download<std::uint16_t>(buffer)) ++counts[number];
  ASSERT_EQ(counts.size(), 4U);
  for (const auto& [number, count] : counts) {
    EXPECT_LE(number, 3);
    EXPECT_NEAR(count, kCount / 4.0, 435) << number;  // 5 standard deviations
  }
  kernels.fill_normal(buffer.id(), ElementType::u16, kCount, 42);
  for (const std::uint16_t number : download<std::uint16_t>(buffer)) EXPECT_LT(number, 8 * 6);
}

TEST_F(CheckKernelsFill, AbsoluteDropsTheSign) {
  const Buffer data = upload<float>({-1.5f, 0.0f, 2.5f});
  const Buffer result(*backend, 3 * sizeof(float));
  kernels.absolute(result.id(), data.id(), ElementType::f32, 3);
  EXPECT_THAT(download<float>(result), testing::ElementsAre(1.5f, 0.0f, 2.5f));
}

/// One output as a candidate left it, with what it should be.
template <class T>
struct Output {
  std::vector<T> result, expected, magnitude = {};
  double factor = 0;
};

/// Looking at an output of every type.
template <class T>
class CheckKernelsCompare : public CheckKernelsFixture {
 protected:
  static constexpr ElementType type() {
    if constexpr (std::is_floating_point_v<T>) {
      return sizeof(T) == 4 ? ElementType::f32 : ElementType::f64;
    } else if constexpr (std::is_signed_v<T>) {
      return sizeof(T) == 4 ? ElementType::i32 : ElementType::i64;
    } else {
      return ElementType::u32;
    }
  }

  /// What an inspection reports of it.
  CheckReport look_at(const Output<T>& output) {
    CheckedData data{.type = type(),
                     .count = static_cast<std::int64_t>(output.result.size()),
                     .role = BufferRole::output,
                     .factor = output.factor,
                     .expected = 0};
    if (output.factor > 0) data.magnitude = 0;
    const CheckedMemory memory(*backend, plan_memory({data}));
    const CheckedData& placed = memory.plan().data.front();
    kernels.lay_guards(memory);
    backend->write(memory.candidate(placed.candidate), std::as_bytes(std::span(output.result)));
    backend->write(memory.reference(*placed.expected), std::as_bytes(std::span(output.expected)));
    if (placed.magnitude) {
      backend->write(memory.reference(*placed.magnitude),
                     std::as_bytes(std::span(output.magnitude)));
    }
    return kernels.inspect(memory, 0, CheckKernels::Repeats::ignored).front();
  }
  CheckReport bounded(const std::vector<T>& result, const std::vector<T>& expected,
                      const std::vector<T>& magnitude, double factor) {
    return look_at({result, expected, magnitude, factor});
  }
  CheckReport exact(const std::vector<T>& result, const std::vector<T>& expected) {
    return look_at({result, expected});
  }
};
/// The largest error as a share of its bound.
double worst_share(const CheckReport& report) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(report.worst)));
}
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(CheckKernelsCompare, Floats);

TYPED_TEST(CheckKernelsCompare, FindsExactlyTheWrongElementsAndTheFirstOfThem) {
  using T = TypeParam;
  const std::vector<T> reference(600'000, T{2});  // more than one pass of the largest grid
  std::vector<T> result = reference;
  EXPECT_EQ(this->exact(result, reference).wrong, 0U);
  constexpr std::size_t kFirst = 12'345, kSameThread = kFirst + 1024 * 256;
  for (const std::size_t index : {599'999UL, kSameThread, kFirst}) result[index] = T{3};
  const CheckReport found = this->exact(result, reference);
  EXPECT_EQ(found.wrong, 3U);
  EXPECT_EQ(found.last, 599'999U);
  EXPECT_EQ(found.first, kFirst);
  const CheckReport bounded =
      this->bounded(result, reference, std::vector<T>(reference.size(), T{1}), 0.5);
  EXPECT_EQ(bounded.wrong, 3U);
  EXPECT_EQ(bounded.first, kFirst);
  EXPECT_DOUBLE_EQ(worst_share(bounded), 2.0);
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
      worst_share(this->bounded({inside, T{1.125}}, {T{1}, T{1}}, {T{0.5}, T{0.5}}, 0.5)), 1.0);
  EXPECT_EQ(this->bounded({T{0}}, {T{0}}, {T{0}}, 0.5).wrong, 0U) << "nothing was summed";
  EXPECT_EQ(this->bounded({T(1e-30)}, {T{0}}, {T{0}}, 0.5).wrong, 1U) << "nothing was summed";
}

TYPED_TEST(CheckKernelsCompare, NaNAndInfinityAreWrong) {
  using T = TypeParam;
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (const T bad : {kNaN, kInfinity, -kInfinity}) {
    const CheckReport exact = this->exact({T{1}, bad}, {T{1}, T{1}});
    EXPECT_EQ(exact.wrong, 1U) << bad;
    EXPECT_EQ(exact.first, 1U) << bad;
    const CheckReport bounded = this->bounded({T{1}, bad}, {T{1}, T{1}}, {T{1}, T{1}}, 0.5);
    EXPECT_EQ(bounded.wrong, 1U) << bad;
    EXPECT_EQ(bounded.first, 1U) << bad;
    EXPECT_GT(worst_share(bounded), 1.0) << bad;
  }
}

using WholeNumbers = testing::Types<std::int32_t, std::uint32_t, std::int64_t>;
template <class T>
using CheckKernelsCompareWhole = CheckKernelsCompare<T>;
TYPED_TEST_SUITE(CheckKernelsCompareWhole, WholeNumbers);

TYPED_TEST(CheckKernelsCompareWhole, NeighboursDifferHoweverLarge) {
  using T = TypeParam;
  const T large = std::numeric_limits<T>::max();
  EXPECT_EQ(this->exact({large}, {large}).wrong, 0U);
  EXPECT_EQ(this->exact({large}, {large - 1}).wrong, 1U) << "a double does not tell these apart";
}

TEST_F(CheckKernelsFixture, PicksAnElementOfBothAndSaysWhetherItIsUntouched) {
  const Buffer references = upload<float>({4, 5, 6}), magnitudes = upload<float>({7, 8, 9});
  const CheckedMemory memory(
      *backend,
      plan_memory(
          {{.type = ElementType::f32, .count = 3, .role = BufferRole::output, .expected = 0}}));
  const Region result = memory.candidate(memory.plan().data.front().candidate);
  kernels.prepare(memory, 7);
  const auto pick = [&](std::int64_t index, std::uint64_t poison) {
    return kernels.pick(result, references.id(), magnitudes.id(), ElementType::f32, index, poison);
  };
  EXPECT_TRUE(pick(2, 7).untouched);
  EXPECT_FALSE(pick(2, 8).untouched) << "another launch's poison";
  const std::vector<float> written = {1, 2, 3};
  backend->write(result, std::as_bytes(std::span(written)));
  const CheckKernels::Element element = pick(2, 7);
  EXPECT_EQ(element.result, 3);
  EXPECT_EQ(element.reference, 6);
  EXPECT_EQ(element.magnitude, 9);
  EXPECT_FALSE(element.untouched);
}

}  // namespace
}  // namespace tuner
