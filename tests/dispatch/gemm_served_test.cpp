// SPDX-License-Identifier: Apache-2.0
// What serves a product: the library whatever the table has, where no kernel can.
#include "tests/cublas/gemm_family.hpp"
#include "tests/dispatch/cpu_fixture.hpp"
#include "tuner/dispatch/dispatcher.hpp"
#include "tuner/dispatch/gemm.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tuner::dispatch {
namespace {

using testing::HasSubstr;

class GemmServedTest : public CpuFixture {
 protected:
  /// Without a table, and with what was added to the database.
  [[nodiscard]] std::vector<std::unique_ptr<Dispatcher>> both() const {
    std::vector<std::unique_ptr<Dispatcher>> all;
    all.push_back(std::make_unique<Dispatcher>(Table::none(), options));
    all.push_back(std::make_unique<Dispatcher>(Table::database(database.path()), options));
    return all;
  }
  /// A family "gemm" with a change to its space file.
  void add_gemm(std::string_view from, std::string_view to, double ratio_to_library = 2) {
    auto tuned = cublas::tuned_gemm({"2,2,2"}, ratio_to_library);
    std::string& space = tuned.front().space;
    ASSERT_NE(space.find(from), std::string::npos) << from;
    space.replace(space.find(from), from.size(), to);
    database.add_all(tuned);
  }
};

TEST_F(GemmServedTest, AMatrixWithoutElementsMayHaveTheLeadingDimensionZero) {
  database.add_all(cublas::tuned_gemm({"2,2,2"}));
  const float a = 1, b = 1;
  for (const auto& dispatcher : both()) {
    std::vector<float> c = {1, 2, 3, 4};
    const auto run = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t lda,
                         std::int64_t ldb, std::int64_t ldc) {
      sgemm(*dispatcher, nullptr, Transpose::no, Transpose::no, m, n, k, 1, &a, lda, &b, ldb, 2,
            c.data(), ldc);
    };
    run(2, 2, 0, 0, 0, 2);
    EXPECT_THAT(c, testing::ElementsAre(2, 4, 6, 8));
    run(0, 2, 2, 0, 2, 0);
    run(2, 0, 2, 2, 0, 0);
    EXPECT_THAT(c, testing::ElementsAre(2, 4, 6, 8));
    EXPECT_THAT([&] { run(1, 1, 1, 0, 1, 1); }, testing::ThrowsMessage<DispatchError>(HasSubstr(
                                                    "lda is 0, but a stored row has 1 elements")));
    EXPECT_THAT([&] { run(2, 2, 0, 0, -1, 2); },
                testing::ThrowsMessage<DispatchError>(HasSubstr("ldb is -1")));
  }
}

TEST_F(GemmServedTest, LeadingDimensionsThatNoKernelTakesAreServedByTheLibrary) {
  database.add_all(cublas::tuned_gemm({"2,2,2"}));
  const std::vector<float> a = {1, 2, 3}, b = {1, 2, 3, 4, 5, 6};
  for (const auto& dispatcher : both()) {
    for (const std::int64_t lda : {std::int64_t{1} << 31, std::int64_t{1} << 33}) {
      std::vector<float> c(2);
      sgemm(*dispatcher, nullptr, Transpose::no, Transpose::no, 1, 2, 3, 1, a.data(), lda, b.data(),
            2, 0, c.data(), 2);
      EXPECT_THAT(c, testing::ElementsAre(22, 28)) << lda;
    }
  }
}

TEST_F(GemmServedTest, WhereNothingOfTheTableCanRunTheLibraryDoes) {
  // No library is an answer of this family.
  const std::string_view reference =
      R"("reference": {"op": "gemm", "m": "M", "n": "N", "k": "K", "a": "A", "b": "B", "c": "C",
                  "alpha": "alpha", "beta": "beta", "trans_a": "TRANS_A", "trans_b": "TRANS_B",
                  "lda": "LDA", "ldb": "LDB", "ldc": "LDC", "batch": "BATCH"})";
  add_gemm(reference, R"("reference": {"kernel": "plain"})");
  constexpr std::size_t kBatch = 65'536;  // blocks that no grid has
  const std::vector<float> a(kBatch, 2), b(kBatch, 3);
  for (const auto& dispatcher : both()) {
    std::vector<float> c(kBatch, std::numeric_limits<float>::quiet_NaN());
    sgemm_strided_batched(*dispatcher, nullptr, Transpose::no, Transpose::no, 1, 1, 1, 1, a.data(),
                          1, 1, b.data(), 1, 1, 0, c.data(), 1, 1, kBatch);
    EXPECT_THAT(c, testing::Each(6));
  }
}

/// What gemm() and find_gemm() say of a problem: empty where they take it.
struct Judged {
  std::string by_gemm, by_find;
  bool is_found = false;
};

Judged judged(Dispatcher& dispatcher, const GemmProblem& problem) {
  std::vector<float> a(64, 1), b(64, 1), c(64, 1);
  Judged result;
  try {
    gemm(dispatcher, nullptr, problem, 1, a.data(), b.data(), 0, c.data());
  } catch (const DispatchError& error) {
    result.by_gemm = error.what();
  }
  try {
    result.is_found = find_gemm(dispatcher, problem).has_value();
  } catch (const DispatchError& error) {
    result.by_find = error.what();
  }
  return result;
}

TEST_F(GemmServedTest, FindGemmTakesWhatGemmTakes) {
  add_gemm(R"("flops": )", R"("constraints": [{"expr": "BATCH <= 2", "why": "few"}], "flops": )",
           0.5);
  const GemmProblem plain = {.m = 2, .n = 2, .k = 2};
  for (const auto& dispatcher : both()) {
    const auto expect_both_say = [&](const GemmProblem& problem, std::string_view text) {
      const Judged it = judged(*dispatcher, problem);
      EXPECT_THAT(it.by_gemm, HasSubstr(text));
      EXPECT_EQ(it.by_find, it.by_gemm);
    };
    GemmProblem wrong = plain;
    wrong.epilogue.activation = static_cast<Activation>(7);
    expect_both_say(wrong, "sgemm: the activation is 7, none of 0 to 2");
    wrong.epilogue = {.bias = static_cast<Bias>(-1)};
    expect_both_say(wrong, "sgemm: the kind of bias is -1, none of 0 to 2");
    wrong.epilogue = {.activation = Activation::relu};
    expect_both_say(wrong, "the table has no kernel for it");
    wrong = plain;
    wrong.batch = 2;
    wrong.stride_c = 1;
    expect_both_say(wrong, "they would overlap");
    wrong.stride_c = -4;
    expect_both_say(wrong, "stride_c is -4; it must be at least 0");
    wrong = plain;
    wrong.type = static_cast<GemmType>(9);
    expect_both_say(wrong, "the type 9 is none of GemmType");
  }
}

TEST_F(GemmServedTest, FindGemmFindsNothingWhereTheLibraryServesWhateverWasTuned) {
  add_gemm(R"("flops": )", R"("constraints": [{"expr": "BATCH <= 2", "why": "few"}], "flops": )",
           0.5);
  Dispatcher dispatcher(Table::database(database.path()), options);
  const auto is_found = [&](const GemmProblem& problem) {
    const Judged it = judged(dispatcher, problem);
    EXPECT_EQ(it.by_gemm, "");
    EXPECT_EQ(it.by_find, "");
    return it.is_found;
  };
  GemmProblem problem = {.m = 2, .n = 2, .k = 2};
  EXPECT_TRUE(is_found(problem));
  problem.stride_a = -1;
  EXPECT_TRUE(is_found(problem)) << "strides of a single product are not read";
  problem.stride_a = std::nullopt;
  problem.batch = 2;
  EXPECT_TRUE(is_found(problem));
  problem.stride_a = 0;
  EXPECT_FALSE(is_found(problem)) << "one A for all";
  problem.stride_a = std::nullopt;
  problem.batch = 3;
  EXPECT_FALSE(is_found(problem)) << "no size of the family";
  problem.batch = 1;
  problem.k = 0;
  EXPECT_FALSE(is_found(problem));
}

}  // namespace
}  // namespace tuner::dispatch
