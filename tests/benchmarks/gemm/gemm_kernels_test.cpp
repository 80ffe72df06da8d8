// SPDX-License-Identifier: Apache-2.0
// The benchmark's own kernels compile: that needs no GPU.
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/core/file.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tuner::gemm_benchmark {
namespace {

class GemmKernels : public testing::TestWithParam<const char*> {};

TEST_P(GemmKernels, Compile) {
  const std::string text =
      read_file(TUNER_SOURCE_DIR "/benchmarks/gemm/gemm_kernels.cu", std::size_t{1} << 20);
  const auto binary = backend::NvrtcCompiler("sm_90").compile(
      {.source = {.name = "gemm_kernels.cu", .text = text, .headers = {}},
       .entries = {GetParam()},
       .options = {},
       .key = {}});
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_FALSE(binary->symbols.empty());
}

INSTANTIATE_TEST_SUITE_P(All, GemmKernels,
                         testing::Values("fill_normal<float>", "fill_normal<double>",
                                         "fill_normal<__nv_bfloat16>", "fill_normal<__half>",
                                         "fill_normal<signed char>", "fill_normal<__nv_fp8_e4m3>",
                                         "absolute<float>", "absolute<signed char>",
                                         "absolute<__nv_fp8_e4m3>", "compare<float>",
                                         "compare<double>", "compare<int>",
                                         "compare<__nv_bfloat16>", "compare<__half>"));

}  // namespace
}  // namespace tuner::gemm_benchmark
