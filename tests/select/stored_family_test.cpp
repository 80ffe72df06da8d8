// SPDX-License-Identifier: Apache-2.0
#include "tuner/select/stored_family.hpp"

#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::select {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kSpace = R"json({
  "format": "space/1", "family": "scale",
  "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
  "arguments": [{"name": "N", "type": "int", "value": "N"},
                {"name": "y", "type": "float*", "count": "N", "role": "output"}],
  "check": {"reference": {"kernel": "plain"}},
  "kernels": {
    "scale": {"source": "scale.cu", "entry": "scale", "launch": {"grid": ["N"], "block": [1]}},
    "plain": {"source": "scale.cu", "entry": "plain", "launch": {"grid": ["N"], "block": [1]}}
  }
})json";

class OwnCodeTest : public testing::Test {
 protected:
  OwnCodeTest() { record.hash = stored_family(record).kernel("scale").hash; }

  [[nodiscard]] std::string refusal() const {
    try {
      require_own_code(record);
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  }
  static void replace(std::string& text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  }

  store::KernelRecord record{
      .family = "scale",
      .kernel = "scale",
      .hash = "",
      .space_text = kSpace,
      .source_name = "scale.cu",
      .source_text = "#include \"tile.cuh\"\n__global__ void scale(int N, float* y) { f(y); }",
      .headers_json = R"([{"name": "tile.cuh", "text": "void f(float* y) { *y = 1; }"}])"};
};

TEST_F(OwnCodeTest, IsFoundByItsHash) {
  EXPECT_EQ(record.hash.size(), 64U);
  EXPECT_EQ(refusal(), "none");
  replace(record.source_text, "f(y);", "f(y);  /* a comment */");
  EXPECT_EQ(refusal(), "none");
}

TEST_F(OwnCodeTest, OtherCodeUnderAKnownHashIsRefusedByName) {
  replace(record.source_text, "f(y);", "f(y); steal();");
  EXPECT_THAT(refusal(), AllOf(HasSubstr("kernel \"scale\" of family \"scale\""),
                               HasSubstr("not what was tuned"), HasSubstr(record.hash)));
}

TEST_F(OwnCodeTest, SoAreAnotherHeaderAndAnotherLaunch) {
  store::KernelRecord header = record;
  replace(record.headers_json, "*y = 1", "*y = 2");
  EXPECT_THAT(refusal(), HasSubstr("not what was tuned"));
  record = header;
  replace(record.space_text, R"("entry": "scale")", R"("entry": "other")");
  EXPECT_THAT(refusal(), HasSubstr("not what was tuned"));
}

/// Hashes of before were no SHA-256, so that anybody could give another source the same one.
TEST_F(OwnCodeTest, SoIsAHashOfAnotherForm) {
  record.hash = "0123456789abcdef0123456789abcdef";
  EXPECT_THAT(refusal(), HasSubstr("tune it again"));
}

TEST_F(OwnCodeTest, AKernelOfAnotherFamilysFileIsRefused) {
  record.family = "gemm";
  EXPECT_THAT(refusal(), HasSubstr("is of the family scale"));
}

/// Printed code includes it by its name.
TEST_F(OwnCodeTest, ASourcesNameMayHoldNoCode) {
  for (const char* name : {"a.cu\"\n#include \"/etc/passwd", "a.cu\nint x;", "../a.cu", "a\\"}) {
    record.source_name = name;
    EXPECT_THAT(refusal(), HasSubstr("is not the name of a source file")) << name;
  }
}

TEST_F(OwnCodeTest, NothingIsAskedOfAKernelWithoutFiles) {
  record.space_text.clear();
  EXPECT_EQ(refusal(), "none");
}

}  // namespace
}  // namespace tuner::select
