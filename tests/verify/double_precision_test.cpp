// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/double_precision.hpp"

#include "tests/verify/vector_family.hpp"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace tuner::verify {
namespace {

using testing::HasSubstr;

constexpr vectors::Document kMapInDouble = {.arguments =
                                                R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"};

std::optional<family::CompileJob> converted(std::string_view text,
                                            const vectors::Document& document = kMapInDouble) {
  family::CompileJob job;
  job.source = {.name = "k.cu", .text = std::string(text), .headers = {}};
  job.entries = {"ns::plain<float, 4>", "float_sum"};
  job.key = "key";
  const family::Family family = vectors::family(document, "", "");
  return in_double(family, family.kernels.front(), std::move(job));
}

TEST(DoublePrecision, FloatsAndTheirFunctionsAreDoubles) {
  const auto job = converted("extern \"C\" __global__ void plain(float* y) { *y = expf(1); }");
  ASSERT_TRUE(job);
  EXPECT_THAT(job->source.text, HasSubstr("#define float double\n"));
  EXPECT_THAT(job->source.text, HasSubstr("#define expf exp\n"));
  EXPECT_THAT(job->entries, testing::ElementsAre("ns::plain<double, 4>", "float_sum"));
  EXPECT_NE(job->key, "key");
}

TEST(DoublePrecision, ASourceThatKnowsTheSizeOrTheBitsOfAFloatIsLeftOut) {
  for (const std::string_view text :
       {"#include <cmath>", "float4 v;", "reinterpret_cast<int&>(x)", "sizeof x",
        "extern __shared__ float s[];", "*(int*)&x", "* ( unsigned * ) &x", "__float_as_int(x)",
        "asm(\"\")", "__half h;"}) {
    EXPECT_FALSE(converted(text)) << text;
  }
}

TEST(DoublePrecision, AFamilyWithOtherFloatingPointTypesIsLeftOut) {
  EXPECT_FALSE(converted("", {.arguments = R"({"name": "x", "type": "double*", "count": "N"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"}));
  EXPECT_FALSE(converted("", {.arguments = R"({"name": "x", "type": "float[]", "count": "4"},
    {"name": "y", "type": "float*", "count": "N", "role": "output"})"}));
}

}  // namespace
}  // namespace tuner::verify
