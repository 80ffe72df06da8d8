// SPDX-License-Identifier: Apache-2.0
// Outputs whose elements may be in any order, or of which only some count.
#include "tests/verify/vector_family.hpp"
#include "tuner/core/error.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tuner::verify {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using vectors::Document;

/// The elements above 0.
constexpr Document kCompaction = {.arguments = R"({"name": "x", "type": "float*", "count": "N"},
    {"name": "out", "type": "float*", "count": "N", "role": "output", "order": "any"},
    {"name": "count", "type": "int*", "count": 1, "role": "output", "initial": "zero"})"};
constexpr std::string_view kCompactionParameters = "const float* x, float* out, int* count";
constexpr std::string_view kPlainCompaction =
    "if (i == 0) { int k = 0; for (int j = 0; j < n; ++j) if (x[j] > 0) out[k++] = x[j]; *count = "
    "k; }";

class RecordOrderTest : public vectors::VectorsTest {
 protected:
  std::string compaction(std::string_view candidate) {
    return message(kCompaction, kCompactionParameters, kPlainCompaction, candidate);
  }
};

TEST_F(RecordOrderTest, AnyOrderIsRight) {
  EXPECT_EQ(compaction("if (x[i] > 0) out[atomicAdd(count, 1)] = x[i];"), "ok");
  EXPECT_EQ(compaction("if (i == 0) { int k = 0; for (int j = n; j-- > 0;) if (x[j] > 0) out[k++] "
                       "= x[j]; *count = k; }"),
            "ok");
}

}  // namespace
}  // namespace tuner::verify
