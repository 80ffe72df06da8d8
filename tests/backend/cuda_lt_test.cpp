// SPDX-License-Identifier: Apache-2.0
// What of cublasLt needs no GPU: the texts of its algorithms.
#include "tuner/backend/cuda/cublas_lt.hpp"

#include <gtest/gtest.h>

namespace tuner::backend {
namespace {

LtAlgorithm example() {
  LtAlgorithm algorithm{.alignment_bytes = 8};
  std::uint64_t next = 0xfedcba9876543210ULL;
  for (std::uint64_t& word : algorithm.algorithm.data) word = next--;
  return algorithm;
}

TEST(LtText, IsReadAsItIsWritten) {
  const std::string text = lt_text(example(), 130100);
  EXPECT_TRUE(text.starts_with("cublasLt/130100/8/fedcba9876543210fedcba987654320f")) << text;
  const auto read = lt_algorithm(text, 130100);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->alignment_bytes, 8U);
  EXPECT_TRUE(std::ranges::equal(read->algorithm.data, example().algorithm.data));
}

TEST(LtText, HoldsForOneVersion) {
  const auto read = lt_algorithm(lt_text(example(), 130100), 130200);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().outcome, Outcome::launch_error);
  EXPECT_EQ(read.error().message, "the algorithm is of cublasLt 130100, here is 130200");
}

TEST(LtText, RefusesWhatIsNone) {
  const std::string good = lt_text(example(), 130100);
  for (const std::string& bad :
       {std::string(), std::string("host/1/loops"), good.substr(0, good.size() - 1), good + "0",
        good.substr(0, good.size() - 1) + "g", std::string("cublasLt/x/8/") + good.substr(18),
        std::string("cublasLt/130100/0/") + good.substr(18)}) {
    const auto read = lt_algorithm(bad, 130100);
    ASSERT_FALSE(read) << bad;
    EXPECT_NE(read.error().message.find("is no algorithm of cublasLt"), std::string::npos);
  }
}

TEST(LtAlignment, IsThatOfTheWorstOperandAndAtMost16Bytes) {
  const auto at = [](std::uintptr_t a, std::uintptr_t b, std::uintptr_t c) {
    blas::Addresses operands;
    operands[blas::kA] = reinterpret_cast<void*>(a);
    operands[blas::kB] = reinterpret_cast<void*>(b);
    operands[blas::kC] = reinterpret_cast<void*>(c);
    return operands;
  };
  EXPECT_EQ(alignment_bytes(at(256, 512, 1024)), 16U);
  EXPECT_EQ(alignment_bytes(at(256, 512 + 8, 1024)), 8U);
  EXPECT_EQ(alignment_bytes(at(256 + 4, 512 + 8, 1024 + 2)), 2U);
}

}  // namespace
}  // namespace tuner::backend
