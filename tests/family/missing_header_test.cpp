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
}

}  // namespace
}  // namespace tuner::family
