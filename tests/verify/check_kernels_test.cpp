// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/check_kernels.hpp"

#include "tests/support/cached_cpu_backend.hpp"
#include "tuner/backend/cpu/interleaved_image.hpp"
#include "tuner/family/family.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tuner::verify {
namespace {

/// Device memory made from and read back to host numbers.
class CheckKernelsFixture : public testing::Test {
 protected:
  template <class T>
  backend::Buffer upload(const std::vector<T>& values) {
    backend::Buffer buffer(*backend, values.size() * sizeof(T));
    backend->write(buffer.id(), std::as_bytes(std::span(values)));
    return buffer;
  }
  template <class T>
  std::vector<T> download(const backend::Buffer& buffer) const {
    std::vector<T> values(buffer.size_bytes() / sizeof(T));
    backend->read(buffer.id(), std::as_writable_bytes(std::span(values)));
    return values;
  }

  std::unique_ptr<backend::Backend> backend = testing_support::open_cached_cpu_backend();
  CheckKernels kernels{*backend};
};

using testing::AllOf;
using testing::Ge;
using testing::Lt;

TEST_F(CheckKernelsFixture, AreNotCompiledOnceMoreToShowRaces) {
  family::CompileJob job = check_kernels_job({"count_fractions<f32>"});
  const auto has_second = [&] {
    const auto binary = backend->compiler().compile(job);
    return binary && !backend::interleaved_part(binary->image).image.empty();
  };
  EXPECT_FALSE(has_second());
  job.options.clear();
  job.key += " as a candidate";
  EXPECT_TRUE(has_second());
}

using CheckKernelsFill = CheckKernelsFixture;

TEST_F(CheckKernelsFill, WholeNumbersTakeEveryValueButZeroEquallyOftenAndFollowTheSeed) {
  constexpr std::int64_t kCount = 300'000;  // more than one pass of the largest grid
  const auto filled = [&](std::uint64_t seed) {
    backend::Buffer buffer(*backend, kCount * sizeof(float));
    kernels.fill_whole({buffer.id(), family::ElementType::f32, kCount}, seed, 3);
    return download<float>(buffer);
  };
  const std::vector<float> numbers = filled(42);
  std::map<float, int> counts;
  for (const float number : numbers) ++counts[number];
  ASSERT_EQ(counts.size(), 6U);
  EXPECT_FALSE(counts.contains(0.0f));
  EXPECT_EQ(counts.begin()->first, -3.0f);
  EXPECT_EQ(counts.rbegin()->first, 3.0f);
  for (const auto& [number, count] : counts) {
    EXPECT_NEAR(count, kCount / 6.0, 1025) << number;  // 5 standard deviations
  }
  EXPECT_EQ(filled(42), numbers);
  EXPECT_NE(filled(43), numbers);
}

TEST_F(CheckKernelsFill, NormalNumbersHaveMeanZeroAndVarianceOneAndFollowTheSeed) {
  constexpr std::int64_t kCount = 100'000;
  const auto filled = [&](std::uint64_t seed) {
    backend::Buffer buffer(*backend, kCount * sizeof(double));
    kernels.fill_normal({buffer.id(), family::ElementType::f64, kCount}, seed);
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

TEST_F(CheckKernelsFill, WholeNumbersOfUnsignedTypesBeginAtOne) {
  constexpr std::int64_t kCount = 40'000;
  backend::Buffer buffer(*backend, kCount * sizeof(std::uint16_t));
  kernels.fill_whole({buffer.id(), family::ElementType::u16, kCount}, 42, 3);
  std::map<int, int> counts;
  for (const std::uint16_t number : download<std::uint16_t>(buffer)) ++counts[number];
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts.begin()->first, 1);
  for (const auto& [number, count] : counts) {
    EXPECT_NEAR(count, kCount / 3.0, 472) << number;  // 5 standard deviations
  }
}

TEST_F(CheckKernelsFill, IntegersCoverTheirRangeWithBothEnds) {
  constexpr std::int64_t kCount = 10'000;
  backend::Buffer buffer(*backend, kCount * sizeof(std::int64_t));
  kernels.fill_integers({buffer.id(), family::ElementType::s64, kCount}, 42, -2, 5);
  std::map<std::int64_t, int> counts;
  for (const std::int64_t number : download<std::int64_t>(buffer)) ++counts[number];
  ASSERT_EQ(counts.size(), 8U);
  EXPECT_EQ(counts.begin()->first, -2);
  EXPECT_EQ(counts.rbegin()->first, 5);
  kernels.fill_integers({buffer.id(), family::ElementType::s64, kCount}, 42,
                        std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::int64_t>::max());
  const auto all = download<std::int64_t>(buffer);
  EXPECT_GT(std::ranges::max(all), std::int64_t{1} << 60) << "of all numbers of the type";
  EXPECT_LT(std::ranges::min(all), -(std::int64_t{1} << 60));
}

TEST_F(CheckKernelsFill, UniformAndPositiveNumbersKeepToTheirRanges) {
  constexpr std::int64_t kCount = 10'000;
  backend::Buffer buffer(*backend, kCount * sizeof(float));
  kernels.fill_uniform({buffer.id(), family::ElementType::f32, kCount}, 42);
  EXPECT_THAT(download<float>(buffer), testing::Each(AllOf(Ge(0.0f), Lt(1.0f))));
  kernels.fill_uniform({buffer.id(), family::ElementType::f32, kCount}, 42, -3, 0.5);
  const std::vector<float> between = download<float>(buffer);
  EXPECT_THAT(between, testing::Each(AllOf(Ge(-3.0f), Lt(0.5f))));
  EXPECT_LT(std::ranges::min(between), -2.9f);
  EXPECT_GT(std::ranges::max(between), 0.4f);
  kernels.fill_positive({buffer.id(), family::ElementType::f32, kCount}, 42);
  EXPECT_THAT(download<float>(buffer), testing::Each(Ge(0.5f)));
}

TEST_F(CheckKernelsFill, APermutationHasEachNumberOnceInAnotherOrder) {
  for (const std::int64_t count : {1, 5, 1000, 4097}) {
    backend::Buffer buffer(*backend, static_cast<std::size_t>(count) * sizeof(std::int32_t));
    kernels.fill_permutation({buffer.id(), family::ElementType::s32, count}, 42);
    std::vector<std::int32_t> numbers = download<std::int32_t>(buffer);
    EXPECT_EQ(std::ranges::is_sorted(numbers), count < 3) << count;
    std::ranges::sort(numbers);
    for (std::int32_t i = 0; i < count; ++i) {
      ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i) << "of " << count;
    }
  }
}

TEST_F(CheckKernelsFill, SortedNumbersAscendAndOffsetsEndWithTheEntries) {
  constexpr std::int64_t kCount = 5000;
  backend::Buffer buffer(*backend, kCount * sizeof(std::int32_t));
  kernels.fill_sorted({buffer.id(), family::ElementType::f32, kCount}, 42, -3, 3);
  EXPECT_TRUE(std::ranges::is_sorted(download<float>(buffer)));
  kernels.fill_offsets({buffer.id(), family::ElementType::s32, kCount}, 42, 40'000);
  const auto offsets = download<std::int32_t>(buffer);
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
  EXPECT_EQ(offsets.front(), 0);
  EXPECT_EQ(offsets.back(), 40'000);
  int empty = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i) empty += offsets[i] == offsets[i - 1] ? 1 : 0;
  EXPECT_GT(empty, kCount / 10) << "rows without entries";
}

TEST_F(CheckKernelsFill, GroupsWithoutRowsAreNotCountedAsRead) {
  const family::Problem problem =
      family::load_family(std::filesystem::path(TUNER_SOURCE_DIR) / "spaces/gemm_grouped.json")
          .problem;
  for (const auto& [rows, groups] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {8, 8}, {512, 8}, {2048, 128}, {64, 64}}) {
    constexpr int kDraws = 100;
    int with_rows = 0;
    for (std::uint64_t seed = 0; seed < kDraws; ++seed) {
      backend::Buffer buffer(*backend, static_cast<std::size_t>(groups + 1) * sizeof(std::int32_t));
      kernels.fill_offsets({buffer.id(), family::ElementType::s32, groups + 1}, seed, rows);
      const auto offsets = download<std::int32_t>(buffer);
      for (std::size_t i = 1; i < offsets.size(); ++i) with_rows += offsets[i] > offsets[i - 1];
    }
    const std::string size = fmt::format("{},16,16,GROUPS={}", rows, groups);
    const double elements = family::bytes_at(problem, space::parse_size(size, problem.dims)) / 2;
    const double counted = (elements - 2.0 * 16 * static_cast<double>(rows)) / (16 * 16);
    EXPECT_NEAR(counted, with_rows / double{kDraws}, 0.06 * static_cast<double>(groups)) << size;
  }
}

TEST_F(CheckKernelsFill, PerturbedNumbersAreAFewUnitsInTheLastPlaceAway) {
  const std::vector<float> numbers = {1.0f, -2.5f, 1e-20f, 0.0f, 3e38f};
  const backend::Buffer data = upload(numbers), moved(*backend, numbers.size() * sizeof(float));
  std::set<float> seen;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    kernels.perturb(moved.id(), {data.id(), family::ElementType::f32, 5}, seed);
    const auto result = download<float>(moved);
    EXPECT_EQ(result[3], 0.0f);
    for (const std::size_t i : {0UL, 1UL, 2UL, 4UL}) {
      const auto bits = [](float x) {
        return static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(x));
      };
      const std::int64_t distance = std::abs(bits(result[i]) - bits(numbers[i]));
      EXPECT_GE(distance, 1);
      EXPECT_LE(distance, 4);
    }
    seen.insert(result[0]);
  }
  EXPECT_EQ(seen.size(), 8U) << "1 to 4 units up or down";
}

TEST_F(CheckKernelsFill, AbsoluteDropsTheSign) {
  const backend::Buffer data = upload<float>({-1.5f, 0.0f, 2.5f});
  const backend::Buffer result(*backend, 3 * sizeof(float));
  kernels.absolute(result.id(), {data.id(), family::ElementType::f32, 3});
  EXPECT_THAT(download<float>(result), testing::ElementsAre(1.5f, 0.0f, 2.5f));
}

/// One output as a candidate left it, with what it should be.
template <class T>
struct Output {
  std::vector<T> result, expected, allowed = {};
};

/// Looking at an output of every type.
template <class T>
class CheckKernelsCompare : public CheckKernelsFixture {
 protected:
  static constexpr Poison kPoison = {.kind = nan_poison, .seed = 0};

  static constexpr family::ElementType type() {
    if constexpr (std::is_floating_point_v<T>) {
      return sizeof(T) == 4 ? family::ElementType::f32 : family::ElementType::f64;
    } else if constexpr (std::is_signed_v<T>) {
      return sizeof(T) == 4 ? family::ElementType::s32 : family::ElementType::s64;
    } else {
      return family::ElementType::u32;
    }
  }

  /// What an inspection reports of it.
  PartReport look_at(const Output<T>& output) {
    CheckedData data{
        .type = type(),
        .used = static_cast<std::int64_t>(output.result.size()),
        .count = in_whole_words(type(), static_cast<std::int64_t>(output.result.size())),
        .role = family::BufferRole::output,
        .expected = 0};
    if (!output.allowed.empty()) data.allowed = 0;
    const CheckedMemory memory(*backend, plan_memory({data}));
    const CheckedData& placed = memory.plan().data.front();
    kernels.prepare(memory, kPoison);
    backend->write(memory.candidate(placed.candidate), std::as_bytes(std::span(output.result)));
    backend->write(memory.reference(*placed.expected), std::as_bytes(std::span(output.expected)));
    if (placed.allowed) {
      backend->write(memory.reference(*placed.allowed), std::as_bytes(std::span(output.allowed)));
    }
    return kernels.inspect(memory, kPoison, CheckKernels::Repeats::ignored).front();
  }
  PartReport bounded(const std::vector<T>& result, const std::vector<T>& expected,
                     const std::vector<T>& allowed) {
    return look_at({result, expected, allowed});
  }
  PartReport exact(const std::vector<T>& result, const std::vector<T>& expected) {
    return look_at({result, expected});
  }
};
/// The largest error as a share of its bound.
double worst_share(const PartReport& report) {
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
  const PartReport found = this->exact(result, reference);
  EXPECT_EQ(found.wrong, 3U);
  EXPECT_EQ(found.last, 599'999U);
  EXPECT_EQ(found.first, kFirst);
  const PartReport bounded =
      this->bounded(result, reference, std::vector<T>(reference.size(), T{0.5}));
  EXPECT_EQ(bounded.wrong, 3U);
  EXPECT_EQ(bounded.first, kFirst);
  EXPECT_DOUBLE_EQ(worst_share(bounded), 2.0);
}

TYPED_TEST(CheckKernelsCompare, TheBoundItselfIsRightAndTheNextNumberIsWrong) {
  using T = TypeParam;
  const T inside = T{1} + T{0.25};
  const T outside = std::nextafter(inside, T{2});
  for (const T sign : {T{1}, T{-1}}) {
    EXPECT_EQ(this->bounded({sign * inside}, {sign}, {T{0.25}}).wrong, 0U);
    EXPECT_EQ(this->bounded({sign * outside}, {sign}, {T{0.25}}).wrong, 1U);
    EXPECT_EQ(this->bounded({sign * T{0.75}}, {sign}, {T{0.25}}).wrong, 0U);
    EXPECT_EQ(this->bounded({sign * std::nextafter(T{0.75}, T{0})}, {sign}, {T{0.25}}).wrong, 1U);
  }
  EXPECT_DOUBLE_EQ(worst_share(this->bounded({inside, T{1.125}}, {T{1}, T{1}}, {T{0.25}, T{0.25}})),
                   1.0);
  EXPECT_EQ(this->bounded({T{0}}, {T{0}}, {T{0}}).wrong, 0U);
  EXPECT_EQ(this->bounded({T(1e-30)}, {T{0}}, {T{0}}).wrong, 1U);
}

TYPED_TEST(CheckKernelsCompare, NaNAndInfinityAreWrong) {
  using T = TypeParam;
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  for (const T bad : {kNaN, kInfinity, -kInfinity}) {
    const PartReport exact = this->exact({T{1}, bad}, {T{1}, T{1}});
    EXPECT_EQ(exact.wrong, 1U) << bad;
    EXPECT_EQ(exact.first, 1U) << bad;
    const PartReport bounded = this->bounded({T{1}, bad}, {T{1}, T{1}}, {T{0.5}, T{0.5}});
    EXPECT_EQ(bounded.wrong, 1U) << bad;
    EXPECT_EQ(bounded.first, 1U) << bad;
    EXPECT_GT(worst_share(bounded), 1.0) << bad;
  }
}

TYPED_TEST(CheckKernelsCompare, WhatTheReferenceGivesAsNaNOrInfinityIsRight) {
  using T = TypeParam;
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const std::vector<T> expected = {kNaN, kInfinity, -kInfinity, T{1}};
  EXPECT_EQ(this->exact(expected, expected).wrong, 0U);
  EXPECT_EQ(this->bounded(expected, expected, {T{1}, T{1}, T{1}, T{1}}).wrong, 0U);
  EXPECT_EQ(this->exact({T{1}, -kInfinity, T{1}, T{1}}, expected).wrong, 3U);
  EXPECT_EQ(this->bounded({T{1}, -kInfinity, T{1}, T{1}}, expected, {T{1}, T{1}, T{1}, T{1}}).wrong,
            3U);
}

TYPED_TEST(CheckKernelsCompare, SumsTheSquaresOfErrorsAsSharesOfTheirBounds) {
  using T = TypeParam;
  const PartReport found =
      this->bounded({T{1.5}, T{2}, T{3.25}}, {T{1}, T{2}, T{3}}, {T{1}, T{1}, T{1}});
  EXPECT_EQ(found.wrong, 0U);
  EXPECT_DOUBLE_EQ(static_cast<double>(found.squares) * kSquareUnit, 0.25 + 0.0625);
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

/// The memory of one output of three elements, and its part.
class CheckKernelsOutput : public CheckKernelsFixture {
 protected:
  [[nodiscard]] backend::Region result() const {
    return memory.candidate(memory.plan().data.front().candidate);
  }
  CheckKernels::Element pick(std::int64_t index, const Poison& poison) {
    return kernels.pick(memory, 0, *memory.plan().data.front().expected, index, poison);
  }

  CheckedMemory memory{*backend, plan_memory({{.type = family::ElementType::f32,
                                               .used = 3,
                                               .count = 3,
                                               .role = family::BufferRole::output,
                                               .expected = 0,
                                               .allowed = 0}})};
};

TEST_F(CheckKernelsOutput, PicksAnElementOfBothAndSaysWhetherItIsUntouched) {
  const CheckedData& data = memory.plan().data.front();
  const std::vector<float> expected = {4, 5, 6}, allowed = {7, 8, 9}, written = {1, 2, 3};
  backend->write(memory.reference(*data.expected), std::as_bytes(std::span(expected)));
  backend->write(memory.reference(*data.allowed), std::as_bytes(std::span(allowed)));
  const Poison seventh{.kind = nan_poison, .seed = 7};
  kernels.prepare(memory, seventh);
  EXPECT_TRUE(pick(2, seventh).untouched);
  EXPECT_FALSE(pick(2, {.kind = nan_poison, .seed = 8}).untouched) << "another launch's poison";
  backend->write(result(), std::as_bytes(std::span(written)));
  const CheckKernels::Element element = pick(2, seventh);
  EXPECT_EQ(element.result, 3);
  EXPECT_EQ(element.reference, 6);
  EXPECT_EQ(element.allowed, 9);
  EXPECT_FALSE(element.untouched);
}

TEST_F(CheckKernelsOutput, PoisonsDifferInWhatAMinimumOrAMaximumMakesOfThem) {
  const auto first = [&](PoisonKind kind) {
    kernels.prepare(memory, {.kind = kind, .seed = 1});
    std::vector<float> held(3);
    backend->read(result(), std::as_writable_bytes(std::span(held)));
    EXPECT_TRUE(pick(1, {.kind = kind, .seed = 1}).untouched);
    return held[1];
  };
  EXPECT_THAT(first(nan_poison), testing::IsNan());
  EXPECT_EQ(first(highest_poison), std::numeric_limits<float>::infinity());
  EXPECT_EQ(first(lowest_poison), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(first(huge_poison), std::numeric_limits<float>::max());
  EXPECT_EQ(first(smallest_poison), std::numeric_limits<float>::denorm_min());
  EXPECT_THAT(first(ordinary_poison), AllOf(Ge(1.0f), Lt(2.0f)));
}

TEST_F(CheckKernelsFixture, PoisonsOfIntegersAreTheirEnds) {
  for (const family::ElementType type : family::kElementTypes) {
    if (family::is_floating(type)) continue;
    const CheckedMemory memory(*backend, plan_memory({{.type = type,
                                                       .used = 8,
                                                       .count = 8,
                                                       .role = family::BufferRole::output,
                                                       .expected = 0}}));
    const auto element = [&](PoisonKind kind) {
      kernels.prepare(memory, {.kind = kind, .seed = 1});
      return kernels.pick(memory, 0, 0, 5, {.kind = kind, .seed = 1}).result;
    };
    EXPECT_EQ(element(lowest_poison), static_cast<double>(family::integer_range(type).least))
        << family::name(type);
    if (type == family::ElementType::u64)
      continue;  // whose greatest number 64 signed bits do not hold
    EXPECT_EQ(element(highest_poison), static_cast<double>(family::integer_range(type).greatest))
        << family::name(type);
  }
}

TEST_F(CheckKernelsFixture, PoisonsOfFloatingPointNumbersAreOfTheirType) {
  for (const family::ElementType type : family::kElementTypes) {
    if (!family::is_floating(type)) continue;
    const CheckedMemory memory(*backend, plan_memory({{.type = type,
                                                       .used = 8,
                                                       .count = 8,
                                                       .role = family::BufferRole::output,
                                                       .expected = 0}}));
    const auto element = [&](PoisonKind kind, std::int64_t index) {
      kernels.prepare(memory, {.kind = kind, .seed = 1});
      return kernels.pick(memory, 0, 0, index, {.kind = kind, .seed = 1}).result;
    };
    for (const std::int64_t index : {4, 5}) {
      EXPECT_THAT(element(nan_poison, index), testing::IsNan()) << family::name(type);
      const double largest = family::largest_number(type);
      EXPECT_EQ(element(huge_poison, index), largest) << family::name(type);
      EXPECT_THAT(element(highest_poison, index), Ge(largest)) << family::name(type);
      EXPECT_EQ(element(lowest_poison, index), -element(highest_poison, index));
      EXPECT_EQ(element(smallest_poison, index), family::smallest_number(type));
      EXPECT_THAT(element(ordinary_poison, index), AllOf(Ge(1.0), Lt(2.0))) << family::name(type);
    }
  }
}

TEST_F(CheckKernelsFixture, BetweenRowsOfShortNumbersIsNaN) {
  constexpr std::int64_t kCount = 12;
  const backend::Buffer buffer = upload(std::vector<std::uint16_t>(kCount, 0));
  const blas::MatrixElements used{
      .outer_count = 1, .outer_step = kCount, .inner_count = 3, .inner_step = 4, .columns = 3};
  kernels.poison_padding({buffer.id(), family::ElementType::bf16, kCount}, 7, used);
  const std::vector<std::uint16_t> bits = download<std::uint16_t>(buffer);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double number = family::number_of(family::ElementType::bf16, bits[i]);
    EXPECT_EQ(std::isnan(number), i % 4 == 3) << i;
  }
}

TEST_F(CheckKernelsFixture, NumbersAreConvertedWithOneRoundingAndWhatIsLeftStays) {
  constexpr std::int64_t kCount = 6;
  const backend::Buffer narrow = upload(std::vector<std::uint16_t>(kCount, 0));
  const std::vector<float> numbers = {257, 259, -1, 1e30f, std::bit_cast<float>(kUnwritten), 0};
  const backend::Buffer wide = upload(numbers);
  const CheckKernels::Elements halves{narrow.id(), family::ElementType::bf16, kCount};
  const CheckKernels::Elements floats{wide.id(), family::ElementType::f32, kCount};
  kernels.convert(halves, floats);
  const auto bits = download<std::uint16_t>(narrow);
  for (const std::size_t i : {0UL, 1UL, 2UL, 3UL, 5UL}) {
    EXPECT_EQ(bits[i], family::bits_of(family::ElementType::bf16, static_cast<double>(numbers[i])));
  }
  EXPECT_EQ(bits[4], kUnwritten & 0xFFFFU);
  kernels.convert(floats, halves);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(download<float>(wide)[4]), kUnwritten);
  EXPECT_EQ(download<float>(wide)[0], 256);
}

using CheckKernelsBounds = CheckKernelsFixture;

TEST_F(CheckKernelsBounds, ASpreadBecomesAnErrorAllowedAndATypicalOneTheFloor) {
  const backend::Buffer reference = upload<float>({1, -2, 0, 4});
  const backend::Buffer spread = upload<float>({0, 0, 0, 0});
  const CheckKernels::Elements expected{reference.id(), family::ElementType::f32, 4};
  for (const auto& run : {std::vector<float>{1.5f, -2, 0, 4}, {0.75f, -2.25f, 0, 4}}) {
    kernels.widen(spread.id(), upload(run).id(), expected);
  }
  EXPECT_THAT(download<float>(spread), testing::ElementsAre(0.5f, 0.25f, 0, 0));
  EXPECT_DOUBLE_EQ(kernels.typical({spread.id(), family::ElementType::f32, 4}), std::sqrt(0.125));
  kernels.allow(spread.id(), expected,
                {.factor = 2, .floor = 0.375, .share = 0x1p-6, .relative = 0.25});
  EXPECT_THAT(download<float>(spread), testing::ElementsAre(1.25f, 1.0f, 0.75f, 1.0625f))
      << "the floor counts up to a share of 1/64 of a result";
}

TEST_F(CheckKernelsBounds, ATolerancesLargestPartCounts) {
  const backend::Buffer reference = upload<float>({100, -1, 0, 0x1p24f});
  const backend::Buffer allowed(*backend, 4 * sizeof(float));
  const CheckKernels::Elements expected{reference.id(), family::ElementType::f32, 4};
  kernels.allow(allowed.id(), expected, family::Tolerance{.relative = 0.125, .absolute = 0.5});
  EXPECT_THAT(download<float>(allowed), testing::ElementsAre(12.5f, 0.5f, 0.5f, 0x1p21f));
  kernels.allow(allowed.id(), expected, family::Tolerance{.ulp = 3});
  EXPECT_THAT(download<float>(allowed),
              testing::ElementsAre(3 * 0x1p-17f, 3 * 0x1p-23f, 3 * 0x1p-149f, 6.0f));
}

TEST_F(CheckKernelsBounds, WholeNumbersAreThoseThatTheTypeCountsUpTo) {
  const auto are_whole = [&](float last) {
    const backend::Buffer data = upload<float>({-3, 0, last});
    return kernels.are_whole({data.id(), family::ElementType::f32, 3});
  };
  EXPECT_TRUE(are_whole(7));
  EXPECT_TRUE(are_whole(0x1p24f));
  EXPECT_FALSE(are_whole(0x1p25f));
  EXPECT_FALSE(are_whole(0.5f));
  EXPECT_FALSE(are_whole(std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(are_whole(std::bit_cast<float>(kUnwritten))) << "which the reference did not write";
}

TEST_F(CheckKernelsBounds, ARunThatDependsOnWhatItsOutputHeldIsToldFromOneThatLeavesIt) {
  constexpr std::uint32_t kOther = 0x3FC00000U;
  const auto left = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const backend::Buffer first = upload<float>({1, left(kUnwritten), left(kUnwritten) + 2, 3});
  const backend::Buffer second = upload<float>({1, left(kOther), left(kOther) + 2, 3.0001f});
  const auto found =
      kernels.compare_runs({first.id(), family::ElementType::f32, 4}, second.id(), kOther);
  EXPECT_EQ(found.dependent, 1U);
  EXPECT_EQ(found.unwritten, 1U);
}

TEST_F(CheckKernelsBounds, NaNsAreCounted) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const backend::Buffer data =
      upload<float>({1, std::nanf(""), kInfinity, -std::nanf(""), 0x1p127f});
  const auto found =
      kernels.compare_runs({data.id(), family::ElementType::f32, 5}, data.id(), 0x3FC00000U);
  EXPECT_EQ(found.nans, 2U);
}

}  // namespace
}  // namespace tuner::verify
