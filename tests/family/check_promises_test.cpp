// SPDX-License-Identifier: Apache-2.0
#include "tuner/family/check_promises.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace tuner::family {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A family whose kernel `fast` is judged by `plain`, with this after the reference.
Family family(std::string_view check, std::string_view reference = "plain",
              std::string_view plain = R"(, "plain": {"source": "p.cu", "entry": "plain",
                "launch": {"grid": [1], "block": [1]}})") {
  constexpr std::string_view kText = R"json({{
    "format": "space/1", "family": "sum", "problem": {{"dims": ["N"], "flops": "N", "bytes": "4*N"}},
    "arguments": [{{"name": "n", "type": "int", "value": "N"}},
                  {{"name": "scale", "type": "float", "value": 1}},
                  {{"name": "y", "type": "float*", "count": 1, "role": "output"}}],
    "check": {{"reference": {{"kernel": "{}"}}, "sizes": [[1]]{}}},
    "kernels": {{"fast": {{"source": "f.cu", "entry": "fast",
                           "launch": {{"grid": [1], "block": [1]}}}}{}}}
  }})json";
  const source::KernelSource source{.name = "s.cu", .text = "", .headers = {}};
  return parse_family(fmt::format(kText, reference, check, plain), "sum.json",
                      {{"fast", source}, {"plain", source}});
}

TEST(CheckPromises, SayWhatDecides) {
  EXPECT_THAT(check_promises(family("")),
              ElementsAre(testing::AllOf(HasSubstr("checked against kernel plain"),
                                         HasSubstr("whole numbers"), HasSubstr("n = 1")),
                          HasSubstr("must give the same bits")));
  EXPECT_THAT(check_promises(family(R"(, "exact": true, "deterministic": false)")),
              ElementsAre(HasSubstr("every result must equal"), HasSubstr("may differ in bits")));
  EXPECT_THAT(check_promises(family(R"(, "tolerance": {"relative": 0.001, "ulp": 2})")).front(),
              HasSubstr("differ by 0.001 of the result or 2 units in the last place"));
}

TEST(CheckPromises, OfFilesAreForOneSizeAlone) {
  Family files = family(R"(, "tolerance": {"relative": 0.001})");
  files.check.sizes.clear();
  files.check.reference = NpyReference{.files = {{"y", "right.npy"}}, .size = {1000}};
  EXPECT_THAT(check_promises(files),
              ElementsAre(testing::AllOf(HasSubstr("checked against right.npy"),
                                         HasSubstr("differ by 0.001 of the result")),
                          HasSubstr("one size, 1000"), HasSubstr("must give the same bits")));
  EXPECT_THAT(check_cautions(files, {1000}), IsEmpty());
}

TEST(CheckCautions, NameWhatLetsMistakesPass) {
  const std::string cases = R"(, "cases": [{"set": {"scale": 0.5}}])";
  EXPECT_THAT(check_cautions(family(cases), {1000}), IsEmpty());
  EXPECT_THAT(
      check_cautions(family(""), {1000}),
      ElementsAre(HasSubstr("every check has the same scale: a kernel with fixed numbers")));
  Family without_sizes = family(cases);
  without_sizes.check.sizes.clear();
  EXPECT_THAT(check_cautions(without_sizes, {1000}),
              ElementsAre(HasSubstr("verified at the tuned size only")));
  EXPECT_THAT(check_cautions(family(cases, "fast", ""), {1000}),
              ElementsAre(HasSubstr("kernel fast is its own reference")));
  EXPECT_THAT(
      check_cautions(family(cases, "plain", R"(, "plain": {"source": "p.cu", "entry": "plain",
                "parameters": {"BLOCK": {"values": [1, 2], "default": 1, "kind": "launch"}},
                "launch": {"grid": [1], "block": ["BLOCK"]}})"),
                     {1000}),
      ElementsAre(HasSubstr("kernel plain is its own reference")));
  EXPECT_THAT(check_cautions(family(cases + R"(, "accumulates": "N*N*N")"), {100'000}),
              ElementsAre(HasSubstr("% of a result are allowed at the size 100000")));
  EXPECT_THAT(check_cautions(family(cases + R"(, "tolerance": {"relative": 0.5})"), {1000}),
              ElementsAre(HasSubstr("50 % of a result")));
  EXPECT_THAT(
      check_cautions(family(R"(, "cases": [{"set": {"n": 3}}, {"set": {"scale": 0.5}}])"), {1000}),
      ElementsAre(HasSubstr("a case sets n, which follows from the size")));
}

}  // namespace
}  // namespace tuner::family
