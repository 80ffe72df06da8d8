// SPDX-License-Identifier: Apache-2.0
// Kernels that are judged by results in files that NumPy saved.
#include "tests/support/cached_cpu_backend.hpp"
#include "tests/verify/verify_configuration.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/file.hpp"
#include "tuner/verify/verifier.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::verify {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::size_t kCount = 101;

/// A .npy file of version 1.
template <class T>
std::string npy(std::string_view descr, std::string_view shape, const std::vector<T>& numbers) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descr, shape);
  header.resize(117, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + '\x76' + '\x00' + header +
         std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

/// y = x / 3 in float, rounded from double, beside a kernel that computes it.
class NpyReferenceTest : public testing::Test {
 protected:
  NpyReferenceTest() {
    std::vector<float> x, y;
    for (std::size_t i = 0; i < kCount; ++i) {
      x.push_back(static_cast<float>(i) - 7.25f);
      y.push_back(static_cast<float>(static_cast<double>(x.back()) / 3));
    }
    save("x.npy", npy("<f4", "(101,)", x));
    save("y.npy", npy("<f4", "(101, 1)", y));
  }

  void save(const std::string& name, const std::string& content) {
    write_file(folder_.path() / name, content);
  }

  /// The family whose kernel computes `result` of x and i, with this after the reference.
  family::Family family(std::string_view result, std::string_view check,
                        std::string_view type = "float") {
    constexpr std::string_view kText = R"json({{
      "format": "space/1", "family": "third",
      "problem": {{"dims": ["N"], "flops": "N", "bytes": "8*N"}},
      "arguments": [{{"name": "n", "type": "int", "value": "N"}},
                    {{"name": "x", "type": "{2}*", "count": "N", "fill": {{"npy": "x.npy"}}}},
                    {{"name": "y", "type": "{2}*", "count": "N", "role": "output"}}],
      "check": {{"reference": {{"npy": {{"y": "y.npy"}}, "size": [101]}}{0}}},
      "kernels": {{"third": {{"source": "third.cu", "entry": "third",
                             "launch": {{"grid": [2], "block": [64]}}}}}}
    }})json";
    const std::string text = fmt::format(
        "__global__ void third(int n, const {0}* x, {0}* y) {{ const int i = blockIdx.x * 64 + "
        "threadIdx.x; if (i < n) y[i] = {1}; }}",
        type, result);
    return family::parse_family(fmt::format(kText, check, result, type),
                                (folder_.path() / "third.json").string(),
                                {{"third", {.name = "third.cu", .text = text, .headers = {}}}});
  }

  /// "ok", or how a kernel fails.
  std::string message(std::string_view result, std::string_view check = R"(, "tolerance":
                      {"relative": 1e-6})",
                      std::string_view type = "float") {
    const family::Family judged = family(result, check, type);
    Verifier verifier(*backend_, judged, 7);
    const auto verdict =
        verify_configuration(*backend_, verifier, judged.kernel("third"), {kCount});
    return verdict ? "ok"
                   : fmt::format("{}: {}", name(verdict.error().outcome), verdict.error().message);
  }

  /// Why the files do not fit.
  std::string refusal(const space::Size& size = {kCount}) {
    try {
      check_files(family("x[i] / 3", R"(, "exact": true)"), size);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      return error.what();
    }
    return "none";
  }

 private:
  TemporaryDirectory folder_;
  std::unique_ptr<backend::Backend> backend_ = testing_support::open_cached_cpu_backend();
};

TEST_F(NpyReferenceTest, JudgesWithinTheTolerance) {
  EXPECT_EQ(message("x[i] / 3"), "ok");
  EXPECT_EQ(message("x[i] * (1.0f / 3)"), "ok");
  EXPECT_THAT(message("x[i] * 0.3333f"), StartsWith("wrong_result: y[0] is -2.416"));
  EXPECT_THAT(message("x[n - 1 - i] / 3"), HasSubstr("wrong elements: 100 of 101 (size 101"));
}

TEST_F(NpyReferenceTest, JudgesBitForBit) {
  EXPECT_EQ(message("x[i] / 3", R"(, "exact": true)"), "ok");
  EXPECT_THAT(message("x[i] * (1.0f / 3)", R"(, "exact": true)"), HasSubstr(" exactly; "));
}

TEST_F(NpyReferenceTest, LooksForAllElseAsBesideOtherReferences) {
  EXPECT_THAT(message("x[i] / 3 + (x[n] > 0 ? 1 : 0)"), StartsWith("wrong_result"));
  EXPECT_THAT(message("x[i] / 3; if (i == 0) y[n] = 0"), StartsWith("out_of_bounds"));
  EXPECT_THAT(message("x[i] / 3; if (i == 0) const_cast<float*>(x)[5] = 1"),
              StartsWith("out_of_bounds: wrote its input x"));
}

TEST_F(NpyReferenceTest, ShortIntegersAreEqual) {
  std::vector<short> x, y;
  for (std::size_t i = 0; i < kCount; ++i) {
    x.push_back(static_cast<short>(i));
    y.push_back(static_cast<short>(3 * i));
  }
  save("x.npy", npy("<i2", "(101,)", x));
  save("y.npy", npy("<i2", "(101,)", y));
  EXPECT_EQ(message("3 * x[i]", "", "short"), "ok");
  EXPECT_THAT(message("3 * x[i] + (i == 100)", "", "short"), HasSubstr("y[100] is 301"));
  EXPECT_THAT(message("3 * x[i]; if (i == 0) y[n] = 0", "", "short"), StartsWith("out_of_bounds"))
      << "the rest of the last word";
}

TEST_F(NpyReferenceTest, FilesMustFit) {
  EXPECT_EQ(refusal(), "none");
  EXPECT_THAT(refusal({102}), HasSubstr("hold the results at the size 101; at 102 nothing can be "
                                        "checked"));
  save("y.npy", npy<double>("<f8", "(101,)", std::vector<double>(kCount)));
  EXPECT_THAT(refusal(), HasSubstr("does not hold 'float', which NumPy calls <f4: convert it with "
                                   ".astype('<f4')"));
  save("y.npy", npy<float>("<f4", "(10, 10)", std::vector<float>(100)));
  EXPECT_THAT(refusal(),
              HasSubstr("holds 100 elements, but at the size 101 the argument has 101: tune and "
                        "check only the size that it is for"));
  save("y.npy", "text");
  EXPECT_THAT(refusal(), HasSubstr("is not a NumPy file"));
  save("x.npy", npy<float>("<f4", "(3,)", std::vector<float>(3)));
  EXPECT_THAT(refusal(), HasSubstr("argument x: the file"));
}

TEST_F(NpyReferenceTest, AFileThatIsMissingIsNamed) {
  family::Family lost = family("x[i] / 3", R"(, "exact": true)");
  std::get<family::NpyReference>(lost.check.reference).files["y"] = "lost.npy";
  EXPECT_THROW(
      try { check_files(lost, {kCount}); } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("argument y: the file"));
        EXPECT_THAT(error.what(), HasSubstr("lost.npy is not there"));
        throw;
      },
      Error);
}

}  // namespace
}  // namespace tuner::verify
