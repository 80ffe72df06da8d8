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

TEST(Terminal, TakesAnyText) {
  using namespace std::string_literals;
  for (const std::string& text :
       {"\x1b"s, "a\x1b"s, "\x1b["s, "\x1b[31"s, "\x1b[2Jm"s, "\x80\x80"s, "\xf0"s, "\0a"s}) {
    EXPECT_LE(text_width(text), text.size());
    for (const std::size_t width : {0U, 1U, 2U, 40U}) {
      std::string joined;
      for (const std::string& line : wrapped(text, width)) joined += line;
      EXPECT_EQ(joined, text);
    }
    static_cast<void>(wrapped_messages(text + "\n" + text, 40));
    static_cast<void>(without_commands(text));
  }
  EXPECT_EQ(text_width("\x1b[2J"), 4U);
}

TEST(Terminal, IsNotCommandedByWhatIsNoColour) {
  EXPECT_EQ(without_commands("a\x1b[31mb\x1b[0m\tµ\n"), "a\x1b[31mb\x1b[0m\tµ\n");
  EXPECT_EQ(without_commands("\x1b[2J\x1b]0;t\x07\x1b\r"), "\\x1b[2J\\x1b]0;t\\x07\\x1b\\x0d");
  EXPECT_EQ(without_commands("\xc2\x9b"
                             "2J\x1b[31"),
            "\\u009b2J\\x1b[31");
}

/// Each of these takes many minutes when the rest of a text is looked at for each line.
TEST(Terminal, WrapsLongTextsInLinearTime) {
  constexpr std::size_t kLong = 2'000'000;  // a square of it takes minutes
  EXPECT_EQ(wrapped(std::string(kLong, 'x'), 80).size(), 1U);
  EXPECT_EQ(wrapped(std::string(kLong, ' ') + "x", 80).size(), 1U);
  for (const char* unit : {"x ", "x,", "\x1b", "\x1b[31m", "\x80", "\x1b[31m ", "\n", "x\n"}) {
    std::string text;
    while (text.size() < kLong) text += unit;
    EXPECT_GE(wrapped_messages(text + "x", 80).size(), text.size() / 2) << unit;
    EXPECT_GE(without_commands(text).size(), text.size()) << unit;
  }
}

TEST(Terminal, BreaksAtSpacesAlone) {
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("a  b", 10), ElementsAre("a  b"));
  EXPECT_THAT(wrapped("", 10), ElementsAre(""));
}

TEST(Terminal, AWordLongerThanTheLineStaysWhole) {
  EXPECT_THAT(wrapped("from /a/path/to/it.json on", 8),
              ElementsAre("from", "/a/path/to/it.json", "on"));
  EXPECT_THAT(wrapped(R"({"A":1,"B":22})", 9), ElementsAre(R"({"A":1,"B":22})"));
  EXPECT_THAT(wrapped("ab\x1b[31mcd", 3), ElementsAre("ab\x1b[31mcd"));
  EXPECT_EQ(wrapped_messages("table: /a/path/to/it.json\n", 9), "table:\n  /a/path/to/it.json\n");
}

TEST(Terminal, KeepsTheIndentationOfWhatItWraps) {
  EXPECT_EQ(wrapped_lines("  one two three\nfour\n", 12), "  one two\n    three\nfour\n");
  EXPECT_EQ(wrapped_lines("short", 10), "short");
}

}  // namespace
}  // namespace tuner::cli
