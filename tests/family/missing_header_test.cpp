// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/missing_header.hpp"

#include <gmock/gmock.h>

namespace tuner::family {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(MissingHeader, IsNamedAsGxxAndNvrtcNameIt) {
  for (const char* message :
       {"k.cu:1:10: fatal error: cub/cub.cuh: No such file or directory\ncompilation terminated.",
        "k.cu(1): catastrophic error: cannot open source file \"cub/cub.cuh\"\n",
        "k.cu(1): catastrophic error: could not open source file \"cub/cub.cuh\" (no directories "
        "in search list)"}) {
    EXPECT_THAT(missing_header_hint(message), StartsWith("\nhint: the header cub/cub.cuh was"));
  }
}

TEST(MissingHeader, OtherMessagesGetNoHint) {
  EXPECT_EQ(missing_header_hint(""), "");
  EXPECT_EQ(missing_header_hint("k.cu:1:87: error: 'nonsense' was not declared"), "");
  EXPECT_EQ(missing_header_hint("fatal error: out of memory\nx: No such file or directory"), "");
}

/// Each of these takes minutes when every beginning is looked at up to the line's end.
TEST(MissingHeader, OfALongHostileMessageIsFoundInLinearTime) {
  for (const char* unit : {"fatal error: ", "fatal error: : No such file", "fatal error: \n"}) {
    std::string message;
    for (int i = 0; i < 500'000; ++i) message += unit;
    EXPECT_EQ(missing_header_hint(message), "");
    EXPECT_THAT(missing_header_hint(message + "fatal error: a.h: No such file"), HasSubstr("a.h"));
  }
}

}  // namespace
}  // namespace tuner::family
