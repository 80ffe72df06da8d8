// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/safetensors.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace tuner::verify {
namespace {

TEST(Safetensors, NamesOfTypesAreThoseOfTheFormat) {
  std::vector<std::string> names;
  for (const ElementType type : kElementTypes) names.push_back(safetensors_name(type));
  EXPECT_THAT(names, testing::ElementsAre("F64", "F32", "F32", "BF16", "F16", "F8_E4M3", "F8_E5M2",
                                          "I64", "U64", "I32", "U32", "I16", "U16", "I8", "U8"));
}

}  // namespace
}  // namespace tuner::verify
