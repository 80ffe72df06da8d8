// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/reproduction.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::cli {
namespace {

class BenchCommandTest : public testing::Test {
 protected:
  std::string of(const std::string& command) {
    run_.command = command;
    return bench_command(run_, trial_);
  }

  store::RunRecord run_ = [] {
    store::RunRecord run;
    run.kernel = "scale";
    return run;
  }();
  store::TrialRecord trial_ = [] {
    store::TrialRecord trial;
    trial.problem = "64";
    trial.config_json = R"({"BLOCK":32})";
    trial.check_seed = 7;
    return trial;
  }();
};

TEST_F(BenchCommandTest, KeepsTheSpaceFileTheDeviceAndTheDeadlinesOfTheRun) {
  EXPECT_EQ(of("tune --space 'my file.json' --backend=cpu --max-evals 3 --fresh --seed 5 --size 9 "
               "--launch-timeout 3s --set BLOCK=32"),
            "tune bench --space 'my file.json' --backend cpu --launch-timeout 3s --kernel scale "
            "--size 64 --seed 7 --config '{\"BLOCK\":32}'");
}

TEST_F(BenchCommandTest, IsEmptyWhenTheRunDoesNotSayItsSpaceFile) {
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("tune --space"), "");
  EXPECT_EQ(of("another program"), "");
}

TEST_F(BenchCommandTest, WhatIsInADatabaseOfElsewhereStaysOneWord) {
  EXPECT_EQ(of("tune --space 'x; reboot'"),
            "tune bench --space 'x; reboot' --kernel scale --size 64 --seed 7 --config "
            "'{\"BLOCK\":32}'");
}

TEST(SpaceFileOf, IsAsTyped) {
  store::RunRecord run;
  run.command = "tune --backend cpu --space='my file.json' --max-evals 3";
  EXPECT_EQ(space_file_of(run), "my file.json");
  run.command = "tune --backend cpu";
  EXPECT_EQ(space_file_of(run), "");
}

}  // namespace
}  // namespace tuner::cli
