// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/terminal.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tuner::cli {
namespace {

using testing::ElementsAre;

TEST(Terminal, WithoutUtf8HasOnlyAscii) {
  const Terminal ascii(80, false, false);
  EXPECT_EQ(ascii.encoded("×1.07 – 8.4 µs … a → b"), "x1.07 - 8.4 us ... a -> b");
  EXPECT_EQ(ascii.encoded("日本"), "??");
  EXPECT_EQ(Terminal(80, true, false).encoded("×日"), "×日");
}

TEST(Terminal, ColoursOnlyWhereAsked) {
  EXPECT_EQ(Terminal(80, true, true).colored("a", Color::red), "\x1b[31ma\x1b[0m");
  EXPECT_EQ(Terminal(80, true, true).colored("a", Color::none), "a");
  EXPECT_EQ(Terminal(80, true, false).colored("a", Color::red), "a");
  EXPECT_EQ(color_choice("never"), ColorChoice::never);
  EXPECT_THROW(static_cast<void>(color_choice("allways")), Error);
}

TEST(Terminal, WrapsMessagesButNoCommandsNorWhatACaretPointsAt) {
  EXPECT_EQ(wrapped_messages("one two three\n", 9), "one two\n  three\n");
  EXPECT_EQ(wrapped_messages("  tune --space a.json\n", 8), "  tune --space a.json\n");
  EXPECT_EQ(wrapped_messages("  one two three\n      ^\n", 8), "  one two three\n      ^\n");
  EXPECT_EQ(wrapped_messages("one two three", 9), "one two\n  three");
}

TEST(Terminal, CountsCharactersNotBytesNorColours) {
  EXPECT_EQ(text_width("8.4 µs"), 6U);
  EXPECT_EQ(text_width("\x1b[31mred\x1b[0m"), 3U);
}

TEST(Terminal, BreaksAtSpacesThenBehindCommasThenAnywhere) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped(R"({"A":1,"B":22})", 9), ElementsAre(R"({"A":1,)", R"("B":22})"));
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("a  b", 10), ElementsAre("a  b"));
  EXPECT_THAT(wrapped("", 10), ElementsAre(""));
}

TEST(Terminal, KeepsTheIndentationOfWhatItWraps) {
  EXPECT_EQ(wrapped_lines("  one two three\nfour\n", 12), "  one two\n    three\nfour\n");
  EXPECT_EQ(wrapped_lines("short", 10), "short");
}

}  // namespace
}  // namespace tuner::cli
