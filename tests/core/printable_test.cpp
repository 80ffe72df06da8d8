// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/printable.hpp"

#include <gtest/gtest.h>

namespace tuner {
namespace {

using namespace std::string_view_literals;

TEST(Printable, LeavesTextOfEveryScriptAlone) {
  const auto text = "µs, 4096², \xe6\x97\xa5\xe6\x9c\xac, \xf0\x9f\x98\x80\n\ttab"sv;
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, ShowsWhatATerminalWouldActUpon) {
  EXPECT_EQ(printable("\x1b[2Ja\rb\0c\x7f"sv), "\\x1b[2Ja\\x0db\\x00c\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");
  EXPECT_EQ(printable("\xe2\x80\xaegpj.exe\xe2\x81\xa6"), "\\u202egpj.exe\\u2066");
  EXPECT_EQ(printable("a\xe2\x80\x8f"
                      "b\xe2\x80\x8b"
                      "c\xef\xbb\xbf"),
            "a\\u200fb\\u200bc\\ufeff");
}

TEST(Printable, ANameStaysOnOneLine) {
  EXPECT_EQ(printable_name("a\nerror: b\tc\x1b"), "a\\x0aerror: b\\x09c\\x1b");
  EXPECT_EQ(printable_name("\xe6\x97\xa5.json"), "\xe6\x97\xa5.json");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "a"),
            "\\x9ba");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // longer than need be
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");  // the same in three bytes
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(printable("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80");
}

TEST(AsUtf8, TakesOtherBytesForLatin1) {
  EXPECT_EQ(as_utf8("plain \xc2\xa9 \xe2\x82\xac"), "plain \xc2\xa9 \xe2\x82\xac");
  EXPECT_EQ(as_utf8("\xa9 \xe9\xff"), "\xc2\xa9 \xc3\xa9\xc3\xbf");
  EXPECT_EQ(as_utf8("cut \xe2\x82"), "cut \xc3\xa2\xc2\x82");
}

}  // namespace
}  // namespace tuner
