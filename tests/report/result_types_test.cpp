// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/stored_file.hpp"
#include "tuner/report/configurations.hpp"
#include "tuner/report/history.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tuner::report {
namespace {

ResultTypes types_of(std::string_view dims, std::string_view others = "") {
  const std::string text = fmt::format(
      R"({{"format":"space/1","family":"f","problem":{{"dims":[{}],"flops":0,"bytes":0}}{},"kernels":{{"k":{{}}}}}})",
      dims, others);
  return result_types(family::read_stored_file(text, "test", "k").family);
}

TEST(ResultTypes, ATypeIsWhatTheSizeNamesOrTheDimensionsDefault) {
  const ResultTypes types = types_of(
      R"("M",{"name":"TYPE","default":"f32","types":{"bf16":{"A":"bf16"},"f32":{"A":"f32"}}})");
  EXPECT_EQ(types.at("4096"), "f32");
  EXPECT_EQ(types.at("4096,TYPE=bf16"), "bf16");
  EXPECT_EQ(types.at("4096,TYPE=bf16,ALIGN=1"), "bf16");
  EXPECT_EQ(types.at("4096,ATYPE=bf16"), "f32");
}

TEST(ResultTypes, WithoutADimensionOfTypesItIsThatOfTheFirstBufferWritten) {
  const auto type_of = [](std::string_view arguments) {
    return types_of(R"("N")", fmt::format(R"(,"arguments":{})", arguments)).at("64");
  };
  EXPECT_EQ(type_of(R"([{"name":"n","type":"int","value":"N"},
                        {"name":"x","type":"float*","count":"N"},
                        {"name":"y","type":"double*","count":"N","role":"output"}])"),
            "f64");
  EXPECT_EQ(type_of(R"([{"name":"y","type":"__nv_bfloat16*","count":"N","role":"inout"}])"),
            "bf16");
  EXPECT_EQ(types_of(R"("N")").at("64"), "");
}

TEST(ResultTypes, WhereNothingIsKnownTheDimensionTypeTellsIt) {
  EXPECT_EQ(ResultTypes{}.at("64,TYPE=bf16"), "bf16");
  EXPECT_EQ(ResultTypes{}.at("64,LAYOUT=bf16"), "");
}

TEST(TolerantObject, WhatIsNoObjectIsEmpty) {
  for (const char* const text : {"", "[1]", "{", "7"}) {
    EXPECT_TRUE(tolerant_object(text).empty()) << text;
  }
}

}  // namespace
}  // namespace tuner::report
