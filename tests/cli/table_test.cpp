// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table.hpp"

#include <gtest/gtest.h>

namespace tuner::cli {
namespace {

using Align = Table::Align;
using Place = Table::Place;

Terminal wide(std::size_t columns) {
  return {columns, true, false};
}

TEST(Table, AlignsColumnsByTheirWidestCell) {
  Table table({{"name"}, {"count", Align::right}, {"why"}});
  table.add({"a", "1", "short"});
  table.add({"longer", "12,345", ""});
  EXPECT_EQ(table.text(wide(80)),
            "name     count  why\n"
            "a            1  short\n"
            "longer  12,345\n");
}

TEST(Table, IsWrittenAsMarkdown) {
  Table table({{"name"}, {"count", Align::right}});
  table.add({"a|b", "1"});
  EXPECT_EQ(table.markdown(), "|name|count|\n|---|---:|\n|a\\|b|1|\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"time", Align::right}, {"ratio"}});
  table.add({"8.4 µs", "×1.07"});
  table.add({"–", "–"});
  EXPECT_EQ(table.text(wide(80)),
            "  time  ratio\n"
            "8.4 µs  ×1.07\n"
            "     –  –\n");
}

TEST(Table, WithoutRowsIsItsHeading) {
  EXPECT_EQ(Table({{"a"}, {"b"}}).text(wide(80)), "a  b\n");
}

TEST(Table, ConfigurationsMoveBelowWhereARowIsTooWide) {
  Table table({{"size"}, {"time", Align::right}, {"configuration", Align::left, Place::below}});
  table.add({"64", "1 ms", "A=1 B=2"});
  EXPECT_EQ(table.text(wide(30)),
            "size  time  configuration\n"
            "64    1 ms  A=1 B=2\n");
  EXPECT_EQ(table.text(wide(20)),
            "size  time\n"
            "    configuration\n"
            "64    1 ms\n"
            "    A=1 B=2\n");
  EXPECT_EQ(table.text(wide(10)),
            "size  time\n"
            "    configuration\n"
            "64    1 ms\n"
            "    A=1\n"
            "    B=2\n");
}

TEST(Table, ThenTheWidestTextIsWrapped) {
  Table table({{"constraint"}, {"left", Align::right}});
  table.add({"TILE_M <= 256 and TILE_N <= 256", "12"});
  EXPECT_EQ(table.text(wide(26)),
            "constraint            left\n"
            "TILE_M <= 256 and       12\n"
            "TILE_N <= 256\n");
}

TEST(Table, WordsStayWholeInTheirColumn) {
  Table table({{"table"}, {"sizes", Align::right}});
  table.add({"shipped, /a/path/to/the/table.json", "12"});
  EXPECT_EQ(table.text(wide(32)),
            "table                      sizes\n"
            "shipped,                      12\n"
            "/a/path/to/the/table.json\n");
}

TEST(Table, ThenColumnsFollowInAnotherTable) {
  Table table({{"role"},
               {"time", Align::right},
               {"rate", Align::right},
               {"registers", Align::right},
               {"configuration", Align::left, Place::below}});
  table.add({"default", "1.5 ms", "2 GB/s", "32", "A=1"});
  EXPECT_EQ(table.text(wide(25)),
            "role       time    rate\n"
            "    configuration\n"
            "default  1.5 ms  2 GB/s\n"
            "    A=1\n"
            "\n"
            "role     registers\n"
            "default         32\n");
}

TEST(Table, FurtherTablesSayWhichRowIsWhich) {
  Table table({{"size"}, {"who"}, {"a", Align::right}, {"b", Align::right}});
  table.add({"16", "x", "1 ms", "22222 ms"});
  table.add({"16", "y", "2 ms", "33333 ms"});
  EXPECT_EQ(table.text(wide(20)),
            "size  who     a\n"
            "16    x    1 ms\n"
            "16    y    2 ms\n"
            "\n"
            "size  who         b\n"
            "16    x    22222 ms\n"
            "16    y    33333 ms\n");
  Table alike(
      {{"role"}, {"a", Align::right}, {"b", Align::right}, {"config", Align::left, Place::below}});
  alike.add({"candidate", "1 ms", "22222 ms", "T=1"});
  alike.add({"candidate", "2 ms", "33333 ms", "T=2"});
  EXPECT_EQ(alike.text(wide(20)),
            "role          a\n"
            "    config\n"
            "candidate  1 ms\n"
            "    T=1\n"
            "candidate  2 ms\n"
            "    T=2\n"
            "\n"
            "role              b\n"
            "    config\n"
            "candidate  22222 ms\n"
            "    T=1\n"
            "candidate  33333 ms\n"
            "    T=2\n");
}

TEST(Table, ColoursDoNotMoveColumns) {
  Table table({{"state", Align::left, Place::in_row,
                [](std::string_view cell) { return cell == "bad" ? Color::red : Color::none; }},
               {"n", Align::right}});
  table.add({"bad", "1"});
  EXPECT_EQ(table.text(Terminal(80, true, true)),
            "\x1b[1mstate\x1b[0m  \x1b[1mn\x1b[0m\n"
            "\x1b[31mbad\x1b[0m    1\n");
}

}  // namespace
}  // namespace tuner::cli
