// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/records.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace tuner::verify {
namespace {

using family::ElementType;
using testing::ElementsAre;

template <class T>
RecordColumn column(ElementType type, const std::vector<T>& values, std::size_t elements = 1) {
  const auto bytes = std::as_bytes(std::span(values));
  return {.name = "x", .type = type, .elements = elements, .bytes = {bytes.begin(), bytes.end()}};
}

template <class T>
std::vector<T> values(const RecordColumn& column) {
  std::vector<T> values(column.bytes.size() / sizeof(T));
  std::memcpy(values.data(), column.bytes.data(), column.bytes.size());
  return values;
}

TEST(SortRecords, SortsWithinRowsAndKeepsWhatIsInPlace) {
  RecordTable table{{column<int>(ElementType::s32, {5, -3, 7, 9, 2, 1, 8})}, 7};
  const std::vector<std::uint32_t> rows = {0, 0, kInPlace, 1, 1, 1, kIgnored};
  EXPECT_THAT(sort_records(table, rows), ElementsAre(1, 0, 2, 5, 4, 3, 6));
  EXPECT_THAT(values<int>(table.columns[0]), ElementsAre(-3, 5, 7, 1, 2, 9, 0));
}

TEST(SortRecords, IntegersOfRecordsDecideBeforeNumbersThatAreRounded) {
  RecordTable table{{column<float>(ElementType::f32, {1, 2, 3}),
                     column<short>(ElementType::s16, {4, 1, 3, 2, 3, 1}, 2)},
                    3};
  static_cast<void>(sort_records(table, std::vector<std::uint32_t>(3)));
  EXPECT_THAT(values<float>(table.columns[0]), ElementsAre(3, 2, 1));
  EXPECT_THAT(values<short>(table.columns[1]), ElementsAre(3, 1, 3, 2, 4, 1));
}

TEST(SortRecords, NumbersOfEveryTypeAscend) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const ElementType type : family::kElementTypes) {
    std::vector<double> numbers = {3, 0, 1, 2};
    if (family::row(type).kind != family::NumberKind::unsigned_integer) numbers.push_back(-2);
    if (family::is_floating(type)) numbers.insert(numbers.end(), {NAN, 0.5, -0.5});
    if (family::row(type).format.has_infinity && family::is_floating(type)) {
      numbers.insert(numbers.end(), {kInfinity, -kInfinity});
    }
    RecordColumn column{.name = "x", .type = type};
    for (const double number : numbers) {
      const std::uint64_t bits = family::bits_of(type, number);
      const auto bytes = std::as_bytes(std::span(&bits, 1)).first(family::element_bytes(type));
      column.bytes.insert(column.bytes.end(), bytes.begin(), bytes.end());
    }
    RecordTable table{{column}, numbers.size()};
    static_cast<void>(sort_records(table, std::vector<std::uint32_t>(numbers.size())));
    for (std::size_t i = 1; i < numbers.size(); ++i) {
      const double before = family::number_of(type, table.columns[0].bits(i - 1));
      const double now = family::number_of(type, table.columns[0].bits(i));
      EXPECT_TRUE(before < now || (std::isnan(now) && i == numbers.size() - 1))
          << family::name(type) << " " << before << " " << now;
    }
  }
}

std::optional<RecordDifference> difference(const std::vector<float>& expected,
                                           const std::vector<float>& found,
                                           RecordEquality equality = RecordEquality::of_numbers) {
  const RecordTable right{{column(ElementType::f32, expected)}, expected.size()};
  const RecordTable is{{column(ElementType::f32, found)}, found.size()};
  return first_difference(right, is, std::vector<std::uint32_t>(expected.size()), equality);
}

TEST(FirstDifference, CountsHowOftenARecordIsThere) {
  EXPECT_FALSE(difference({1, 2, 2}, {1, 2, 2}));
  const auto lost = difference({1, 2, 2, 2, 7}, {1, 2, 2, 5, 7});
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->record, "value 2");
  EXPECT_EQ(lost->expected, 3U);
  EXPECT_EQ(lost->found, 2U);
  EXPECT_EQ(lost->missing, 1U);
  EXPECT_EQ(lost->first_surplus, 3U);
  const auto twice = difference({1, 2, 3, 4}, {1, 1, 4, 4});
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->record, "value 2");
  EXPECT_EQ(twice->missing, 2U);
  EXPECT_EQ(twice->first_surplus, 1U);
}

TEST(FirstDifference, IsOfNumbersOrOfBits) {
  EXPECT_FALSE(difference({-0.0F, NAN}, {0.0F, -NAN}));
  EXPECT_TRUE(difference({-0.0F, NAN}, {0.0F, NAN}, RecordEquality::of_bits));
}

TEST(FirstDifference, IsOfARow) {
  const RecordTable expected{{column<int>(ElementType::s32, {1, 2, 1, 3})}, 4};
  const RecordTable found{{column<int>(ElementType::s32, {1, 1, 2, 3})}, 4};
  const std::vector<std::uint32_t> rows = {0, 0, 4, 4};
  const auto moved = first_difference(expected, found, rows, RecordEquality::of_numbers);
  ASSERT_TRUE(moved) << "the same numbers in all";
  EXPECT_EQ(moved->row, 0U);
  EXPECT_EQ(moved->record, "value 2");
  EXPECT_EQ(moved->missing, 2U);
}

TEST(FirstDifference, LeavesErrorsOutThatAreAllowed) {
  const RecordTable expected{{column<float>(ElementType::f32, {1, 2, 3})}, 3};
  const RecordTable found{{column<float>(ElementType::f32, {1.01F, 2.01F, 9})}, 3};
  const RecordTable allowed{{column<float>(ElementType::f32, {0.1F, 0.1F, 0.1F})}, 3};
  const std::vector<std::uint32_t> rows(3);
  const auto far = first_difference(expected, found, rows, RecordEquality::of_numbers, &allowed);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->record, "value 3");
  EXPECT_EQ(far->missing, 1U);
}

TEST(RecordText, NamesAllNumbersOfARecord) {
  const RecordTable table{{column<std::int64_t>(ElementType::s64, {1, (1LL << 60) + 1}),
                           column<float>(ElementType::f32, {0, 1, NAN, 0.25F}, 2)},
                          2};
  EXPECT_EQ(record_text(table, 1), "record (1152921504606846977, NaN, 0.25)");
}

}  // namespace
}  // namespace tuner::verify
