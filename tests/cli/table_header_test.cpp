// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/table_header.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

namespace tuner::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(TableHeader, HoldsTheDocumentInLiteralsOfOneLine) {
  const std::string text = table_header("{\"a\": 1,\n \"b\": 2}", "my_table", "two numbers");
  EXPECT_THAT(text, HasSubstr("`: two numbers\n#pragma once\n"));
  EXPECT_THAT(text, HasSubstr("inline std::string my_table() {"));
  EXPECT_THAT(text, HasSubstr("      \"{\\\"a\\\": 1,\\n\",\n      \" \\\"b\\\": 2}\",\n  };\n"));
}

TEST(TableHeader, BreaksLongLinesAndEscapesWhatACompilerWouldRead) {
  const std::string text = table_header(std::string(200, 'x') +
                                            "\xc3\xa9"
                                            "1 ?\?/ \\",
                                        "table", "any");
  EXPECT_THAT(text, HasSubstr("\\303\\2511 \\?\\?/ \\\\\",\n"));
  EXPECT_THAT(text, Not(HasSubstr(std::string(81, 'x'))));
}

TEST(TableHeader, TheSubjectStaysInItsComment) {
  EXPECT_THAT(table_header("{}", "table", "H200\nint hostile;\\"), Not(HasSubstr("\nint hostile")));
  EXPECT_THAT(table_header("{}", "table", "H200 ?\?/"), Not(HasSubstr("?\?/\n")));
  const std::string text = table_header("{}", "table", "H\x1b[2J\r\xe2\x80\xaeX");
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, Not(HasSubstr("\xe2\x80\xae")));
}

TEST(TableHeader, RefusesWhatIsNoNameOfAFunction) {
  for (const char* name : {"", "1st", "my-table", "a b", "a::b", "\xc3\xa9"}) {
    EXPECT_THROW(static_cast<void>(table_header("{}", name, "any")), Error) << name;
  }
}

}  // namespace
}  // namespace tuner::cli
