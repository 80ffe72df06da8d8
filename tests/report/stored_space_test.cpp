// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/stored_space.hpp"

#include <gtest/gtest.h>

namespace tuner::report {
namespace {

TEST(StoredSpace, ATypeIsWhatTheSizeNamesOrTheDimensionsDefault) {
  const ResultTypes types = result_types(
      R"({"problem":{"dims":["M",{"name":"TYPE","default":"f32","types":{"f32":{},"bf16":{}}}]}})");
  EXPECT_EQ(types.at("4096"), "f32");
  EXPECT_EQ(types.at("4096,TYPE=bf16"), "bf16");
  EXPECT_EQ(types.at("4096,TYPE=bf16,ALIGN=1"), "bf16");
  EXPECT_EQ(types.at("4096,ATYPE=bf16"), "f32");
}

TEST(StoredSpace, WithoutADimensionOfTypesItIsThatOfTheFirstBufferWritten) {
  const auto type_of = [](const char* arguments) {
    return result_types(std::string(R"({"problem":{"dims":["N"]},"arguments":)") + arguments + "}")
        .at("64");
  };
  EXPECT_EQ(type_of(R"([{"name":"n","type":"int"},{"name":"x","type":"float*"},
                        {"name":"y","type":"double*","role":"output"}])"),
            "f64");
  EXPECT_EQ(type_of(R"([{"name":"y","type":"__nv_bfloat16 *","role":"inout"}])"), "bf16");
  EXPECT_EQ(type_of(R"([{"name":"y","type":"struct pair*","role":"output"}])"), "");
  EXPECT_EQ(type_of(R"("none")"), "");
}

TEST(StoredSpace, WhatIsNoSpaceFileTellsNothing) {
  EXPECT_EQ(result_types("").at("64,TYPE=bf16"), "bf16");
  EXPECT_EQ(result_types("").at("64,LAYOUT=bf16"), "");
  EXPECT_EQ(result_types(R"({"problem":{"dims":{"N":1}},"arguments":[7]})").at("64"), "");
  EXPECT_TRUE(parameters_of_space("[1]", "k").empty());
}

}  // namespace
}  // namespace tuner::report
