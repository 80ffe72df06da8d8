// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/gemm/library_contenders.hpp"

#include <gtest/gtest.h>

namespace tuner::gemm_benchmark {
namespace {

TEST(KernelName, IsWhatTellsItApart) {
  EXPECT_EQ(short_kernel_name("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8"),
            "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8");
  EXPECT_EQ(
      short_kernel_name(
          "_ZN7cutlass7Kernel2I47cutlass_80_simt_sgemm_256x128_8x4_nn_align1_xxxEEvNT_6ParamsE"),
      "cutlass_80_simt_sgemm_256x128_8x4_nn_align1_xxx");
  EXPECT_EQ(short_kernel_name("_Z12splitKreduceILi32EfEvPT0_"), "splitKreduce");
  EXPECT_EQ(short_kernel_name("_ZN12_GLOBAL__N_14gemvIfEENSt9enable_ifILb1EvE4typeEPT_"), "gemv");
}

}  // namespace
}  // namespace tuner::gemm_benchmark
