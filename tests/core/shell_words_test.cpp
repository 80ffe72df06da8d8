// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/shell_words.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tuner {
namespace {

using testing::ElementsAreArray;

TEST(ShellLine, QuotesWhatAShellWouldNotTakeAsItIs) {
  EXPECT_EQ(shell_line(std::vector<std::string>{"tune", "--set", "A=1,2"}), "tune --set A=1,2");
  EXPECT_EQ(shell_line(std::vector<std::string>{"a b", "", "$(x)", "it's"}),
            "'a b' '' '$(x)' 'it'\\''s'");
}

TEST(ShellLine, EscapesWhatNoTerminalShows) {
  EXPECT_EQ(shell_line(std::vector<std::string>{"caf\xe9/a.json", "it's\n7", "caf\xc3\xa9"}),
            R"($'caf\351/a.json' $'it\'s\0127' 'café')");
}

TEST(ShellWords, ReadsBackWhatShellLineWrites) {
  const std::vector<std::string> words = {
      "tune", "--space", "my spaces/a.json", "",     "it's", "'", "a\\b", R"({"BLOCK":32})",
      "\n;",  "\xe9",    "\xff\\'7",         "$'x'", "a$"};
  EXPECT_THAT(shell_words(shell_line(words)), ElementsAreArray(words));
}

TEST(OwnCommand, IsACommandOfTuneQuotedAgain) {
  EXPECT_EQ(own_command("tune --space a.json"), "tune --space a.json");
  EXPECT_EQ(own_command("tune; rm -rf ~ $(x) `x` \n reboot"),
            "");  // `tune;` is no name of the program
  EXPECT_EQ(own_command("tune ; rm -rf ~ $(x)"), "tune ';' rm -rf '~' '$(x)'");
  EXPECT_EQ(own_command("reboot"), "");
  EXPECT_EQ(own_command(""), "");
}

TEST(ForeignCommand, StartsNoProgramOfSomebodyElse) {
  EXPECT_EQ(foreign_command("tune --launch 'touch planted' --space a.json --launch=reboot -q"),
            "tune --space a.json -q");
  EXPECT_EQ(foreign_command("tune --launch-timeout 3s --launch"), "tune --launch-timeout 3s");
  EXPECT_EQ(foreign_command("tune ; $(x)"), "tune ';' '$(x)'");
  for (const char* line :
       {"tune -q exec touch planted", "tune record touch planted", "reboot", ""}) {
    EXPECT_EQ(foreign_command(line), "") << line;
  }
}

}  // namespace
}  // namespace tuner
