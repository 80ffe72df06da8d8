// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table.hpp"

#include <gtest/gtest.h>

namespace tuner::cli {
namespace {

TEST(Table, AlignsColumnsByTheirWidestCell) {
  Table table({{"name"}, {"count", Table::Align::right}, {"why"}});
  table.add({"a", "1", "short"});
  table.add({"longer", "12,345", ""});
  EXPECT_EQ(table.text(),
            "name     count  why\n"
            "a            1  short\n"
            "longer  12,345\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"time", Table::Align::right}, {"ratio"}});
  table.add({"8.4 µs", "×1.07"});
  table.add({"–", "–"});
  EXPECT_EQ(table.text(),
            "  time  ratio\n"
            "8.4 µs  ×1.07\n"
            "     –  –\n");
}

TEST(Table, WithoutRowsIsItsHeading) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).text(), "a  b\n");
}

}  // namespace
}  // namespace tuner::cli
