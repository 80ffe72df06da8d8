// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/reproduce.hpp"

#include <gtest/gtest.h>

namespace tuner::report {
namespace {

TEST(Reproduce, ACommandLosesWhatConcernsItsMachineAlone) {
  EXPECT_EQ(repeatable("tune --db /root/types.db --trust-db --launch-timeout 3s -v --space "
                       "/home/me/tuner/spaces/gemm.json --size 64,64,64 --log=/tmp/events"),
            "tune --launch-timeout 3s --space spaces/gemm.json --size 64,64,64");
  EXPECT_EQ(
      repeatable("tune --space=/home/me/own/softmax.json --sizes /x/spaces/suites/fp32.json:odd"),
      "tune --space=softmax.json --sizes spaces/suites/fp32.json:odd");
  EXPECT_EQ(repeatable("tune finalize --space own.json -q"), "tune finalize --space own.json");
}

TEST(Reproduce, ACommandStartsNoProgramOfSomebodyElse) {
  EXPECT_EQ(repeatable("tune --launch 'touch planted' --space a.json --launch=reboot --size 64"),
            "tune --space a.json --size 64");
  EXPECT_EQ(repeatable("tune -q exec touch planted"), "");
  EXPECT_EQ(repeatable("tune record touch planted"), "");
}

TEST(Reproduce, WhatIsNoCommandOfTuneIsNotShown) {
  EXPECT_EQ(repeatable("reboot"), "");
  EXPECT_EQ(repeatable(""), "");
  EXPECT_EQ(repeatable("tune ; rm -rf ~"), "tune ';' rm -rf '~'");
}

TEST(Reproduce, TheSpaceFileOfACommand) {
  EXPECT_EQ(space_of_command("tune --kernel k --space /a/spaces/b.json"), "spaces/b.json");
  EXPECT_EQ(space_of_command("tune --space=b.json"), "b.json");
  EXPECT_EQ(space_of_command("tune finalize"), "");
}

}  // namespace
}  // namespace tuner::report
