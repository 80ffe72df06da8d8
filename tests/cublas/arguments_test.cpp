// SPDX-License-Identifier: Apache-2.0
// The arguments of a call that is passed on arrive at cuBLAS bit for bit.
#include "tests/cublas/preloaded.hpp"
#include "tests/cublas/standin.hpp"

#include <cstring>
#include <random>

namespace tuner::cublas {
namespace {

constexpr int kRounds = 10'000;

/// Calls a function with random arguments and says which of them cuBLAS got otherwise; -1: none.
class RandomCalls {
 public:
  template <class... Arguments>
  int difference(cublasStatus_t (*function)(Arguments...)) {
    return call(function, std::tuple<Arguments...>{random<Arguments>()...});
  }
  template <class... Arguments>
  int difference_with(cublasStatus_t (*function)(Arguments...),
                      const std::tuple<Arguments...>& arguments) {
    return call(function, arguments);
  }

  template <class Value>
  Value random() {
    const std::uint64_t bits = generator_();
    Value value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

  std::mt19937_64 generator_{42};

 private:
  template <class... Arguments>
  static int call(cublasStatus_t (*function)(Arguments...),
                  const std::tuple<Arguments...>& arguments) {
    std::array<std::uint64_t, 24> bits{};
    std::size_t count = 0;
    std::apply(
        [&](const auto&... each) { (std::memcpy(&bits.at(count++), &each, sizeof each), ...); },
        arguments);
    std::apply(function, arguments);
    const StandinCall& last = *standin_last_call();
    for (std::size_t i = 0; i < count; ++i) {
      if (last.bits.at(i) != bits.at(i)) return static_cast<int>(i);
    }
    return last.arguments == static_cast<int>(count) ? -1 : static_cast<int>(count);
  }
};

class ArgumentsTest : public Preloaded, public testing::WithParamInterface<const char*> {};

TEST_P(ArgumentsTest, ArriveBitForBit) {
  tune({"5,6,4"});
  ::setenv("TUNER_CUBLAS", GetParam(), 1);
  ::setenv("TUNER_CUBLAS_RECORDING", folder.path().c_str(), 1);
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                    int, const void*, const void*, cudaDataType, int, const void*,
                                    cudaDataType, int, const void*, void*, cudaDataType, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);
  using BatchedEx = cublasStatus_t (*)(
      cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
      cudaDataType, int, long long int, const void*, cudaDataType, int, long long int, const void*,
      void*, cudaDataType, int, long long int, int, cublasComputeType_t, cublasGemmAlgo_t);
  RandomCalls calls;
  standin_fail(CUBLAS_STATUS_EXECUTION_FAILED);  // it must not follow random pointers
  for (int round = 0; round < kRounds; ++round) {
    switch (round % 8) {
      case 0:
        ASSERT_EQ(calls.difference(&cublasSgemm_v2), -1) << round;
        break;
      case 1:
        ASSERT_EQ(calls.difference(&cublasSgemm_v2_64), -1) << round;
        break;
      case 2:
        ASSERT_EQ(calls.difference(&cublasSgemmStridedBatched), -1) << round;
        break;
      case 3:
        ASSERT_EQ(calls.difference(&cublasSgemmStridedBatched_64), -1) << round;
        break;
      case 4:
        ASSERT_EQ(calls.difference(static_cast<GemmEx>(&cublasGemmEx)), -1) << round;
        break;
      case 5:
        ASSERT_EQ(calls.difference(&cublasGemmEx_64), -1) << round;
        break;
      case 6:
        ASSERT_EQ(calls.difference(static_cast<BatchedEx>(&cublasGemmStridedBatchedEx)), -1)
            << round;
        break;
      default:
        ASSERT_EQ(calls.difference(&cublasGemmStridedBatchedEx_64), -1) << round;
    }
  }
}

TEST_P(ArgumentsTest, OfCublasLtArriveBitForBit) {
  tune({"5,6,4"});
  ::setenv("TUNER_CUBLAS", GetParam(), 1);
  ::setenv("TUNER_CUBLAS_RECORDING", folder.path().c_str(), 1);
  RandomCalls calls;
  for (int round = 0; round < kRounds / 8; ++round) {
    // Descriptors are read; what they say is random, and not a product of floats.
    cublasLtMatmulDesc_t desc = nullptr;
    cublasLtMatmulDescCreate(&desc, calls.random<cublasComputeType_t>(), CUDA_R_32F);
    std::array<cublasLtMatrixLayout_t, 4> layouts{};
    for (auto& layout : layouts) {
      cublasLtMatrixLayoutCreate(&layout, calls.random<cudaDataType>(),
                                 calls.random<std::uint64_t>(), calls.random<std::uint64_t>(),
                                 calls.random<std::int64_t>());
    }
    auto pointer = [&] { return calls.random<void*>(); };
    ASSERT_EQ(calls.difference_with(
                  &cublasLtMatmul,
                  {calls.random<cublasLtHandle_t>(), desc, pointer(), pointer(), layouts[0],
                   pointer(), layouts[1], pointer(), pointer(), layouts[2], pointer(), layouts[3],
                   calls.random<const cublasLtMatmulAlgo_t*>(), pointer(),
                   calls.random<std::size_t>(), calls.random<cudaStream_t>()}),
              -1)
        << round;
    for (auto& layout : layouts) cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(desc);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, ArgumentsTest, testing::Values("serve", "record", "off"));

}  // namespace
}  // namespace tuner::cublas
