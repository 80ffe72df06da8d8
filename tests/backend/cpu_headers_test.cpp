// SPDX-License-Identifier: Apache-2.0
// What a kernel written for nvcc finds on a processor: headers, constants, groups, CUB, half.
#include "cpu_fixture.hpp"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

namespace tuner::backend {
namespace {

using CpuHeaders = CpuBackendTest;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Kernel Tuner's and many other programs' kernels take sizes and tiles by macros of any name.
TEST_F(CpuHeaders, AKernelMayHaveMacrosOfAnyName) {
  const std::string source = R"(
#include <cooperative_groups.h>
#include <cub/cub.cuh>
#include <cuda_fp16.h>
__global__ void kernel(int* out) {
  static_assert(sizeof(__half) == 2, "");
  const auto block = cooperative_groups::this_thread_block();
  out[block.thread_rank()] = sizeof(std::size_t) + MACRO;
})";
  for (const std::string macro :
       {"N", "T", "U", "I", "M", "n", "i", "x", "lane", "lanes", "count", "threads", "value",
        "type", "place", "call", "sizes", "context"}) {
    std::string text = source;
    text.replace(text.find("MACRO"), 5, macro);
    const auto binary = compile(text, "kernel", {"-D" + macro + "=3"});
    EXPECT_TRUE(binary) << macro << ": " << binary.error().message;
  }
  const auto in_the_entry = compile("template <int SIZE> __global__ void kernel(int* out) {}",
                                    "kernel<N>", {"-DN=3", "-DUNUSED"});
  EXPECT_TRUE(in_the_entry) << in_the_entry.error().message;
}

TEST_F(CpuHeaders, AKernelOfAWholeProgramRuns) {
  const auto result = run_on_zeros(R"(
#include "cuda_runtime.h"
#include <cstdio>
#include <iostream>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <vector>
#define CHECK(x) do { if ((x) != cudaSuccess) { fprintf(stderr, "failed"); exit(1); } } while (0)
const int kBlock = 256;
float reference(const std::vector<float>& x) { return x[0]; }
__global__ void kernel(int* out) {
  __shared__ int tile[kBlock];
  const uint32_t i = threadIdx.x;
  tile[i] = static_cast<int>(std::sqrt(4.0f) * pow(2.0f, 3));
  __syncthreads();
  out[i] = tile[kBlock - 1 - i];
}
int main(int argc, char** argv) {
  std::vector<int> x(kBlock);
  int* on_device = nullptr;
  CHECK(cudaMalloc(&on_device, 4 * kBlock));
  kernel<<<1, kBlock>>>(on_device);
  std::cout << reference(x) << std::endl;
})",
                                   {.block = {256, 1, 1}}, 256);
  EXPECT_THAT(result, Each(16));
}

/// As a PyTorch extension begins.
const std::string kExtension = R"(
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <pybind11/pybind11.h>
#include "torch/extension.h"
using namespace at;
namespace py = pybind11;
torch::Tensor forward(torch::Tensor x);
#define CHECK_INPUT(x) TORCH_CHECK(x.is_cuda(), #x " must be a CUDA tensor")
)";

TEST_F(CpuHeaders, AKernelOfAnExtensionRuns) {
  EXPECT_THAT(run_on_zeros(kExtension + R"(
template <class T> C10_LAUNCH_BOUNDS_1(64)
__global__ void scale(T* x, T* out, int n) {
  CUDA_KERNEL_LOOP(i, n) out[i] = x[i] * T(2);
}
template <class T> C10_HOST_DEVICE T seven(T) { return 7; }
C10_LAUNCH_BOUNDS_1(64)
__global__ void kernel(int* out) {
  const c10::Half half = 3.5f;
  const at::acc_type<at::Half, true> twice = half * 2.0f;
  out[threadIdx.x] = static_cast<int>(WARP_SHFL_XOR(twice, 1)) * seven(1) / 7;
}
torch::Tensor forward(torch::Tensor x) {
  CHECK_INPUT(x);
  auto out = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scale", [&] {
    scale<scalar_t><<<1, 64, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), x.numel());
  });
  thrust::for_each(x, [=] __device__ (int i) { return i; });
  return out;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "scale"); }
TORCH_LIBRARY_IMPL(example, CUDA, m) { m.impl("forward", forward); }
)",
                           {.block = {32, 1, 1}}, 32),
              Each(7));
}

TEST_F(CpuHeaders, HalvesOfPyTorchAreRoundedLikeThoseOfCuda) {
  EXPECT_THAT(run_on_zeros(R"(
#include <c10/util/Half.h>
#include <c10/util/BFloat16.h>
template <class T> __device__ int sum(float a, float b) {
  T x = a;
  x += T(b);
  return x > T(a) ? static_cast<int>(x) : -1;
}
__global__ void kernel(int* out) {
  out[0] = sum<c10::Half>(2048, 1);  // a tie, to even
  out[1] = sum<c10::Half>(2048, 3);
  out[2] = sum<at::BFloat16>(256, 3);
  out[3] = static_cast<int>(c10::Half(2048.0f) + 1.0f);
  out[4] = sizeof(c10::Half) == sizeof(__half) && alignof(c10::BFloat16) == 2;
})",
                           {.block = {1, 1, 1}}, 5),
              ElementsAre(-1, 2052, 260, 2049, 1));
}

TEST_F(CpuHeaders, NumbersOf8BitsComeInPairs) {
  EXPECT_THAT(run_on_zeros(R"(
#include <cuda_fp8.h>
__global__ void kernel(int* out) {
  const __nv_fp8x2_e4m3 pair(float2{1.5f, -2.0f});
  const __nv_fp8x4_e5m2 four(float4{1, 2, 3, 4});
  out[0] = pair.__x == __nv_cvt_float2_to_fp8x2(float2{1.5f, -2.0f}, __NV_SATFINITE, __NV_E4M3);
  out[1] = static_cast<int>(static_cast<float2>(pair).y);
  out[2] = static_cast<int>(static_cast<float4>(four).z);
})",
                           {.block = {1, 1, 1}}, 3),
              ElementsAre(1, -2, 3));
}

TEST_F(CpuHeaders, VersionsOfCudaAndTypesOfTheHostNeedNone) {
  const auto compiled = compile(R"(
#if CUDA_VERSION >= 11000 && CUDART_VERSION >= 11000
struct Context { cudaStream_t stream; cudaEvent_t event; cudaError_t last; };
__device__ int size_of(const Context*) { return sizeof(Context); }
static_assert(INT32_MAX + INT32_MIN == -1 && UINT64_MAX > 0 && SIZE_MAX > 0);
__global__ void kernel(int* x) { *x = size_of(nullptr); }
#endif)");
  EXPECT_TRUE(compiled) << compiled.error().message;
  const auto with_headers = compile(R"(
#include <climits>
#include <cstdint>
#include <cuda.h>
__global__ void kernel(int* x) { *x = INT32_MAX; })");
  EXPECT_TRUE(with_headers) << with_headers.error().message;
}

TEST_F(CpuHeaders, ConstantsNeedNone) {
  const auto compiled = compile(R"(
static_assert(INFINITY > FLT_MAX && NAN != NAN && HUGE_VAL > DBL_MAX && M_PI > 3.14159);
static_assert(1 + FLT_EPSILON > 1 && INT_MAX + INT_MIN == -1 && UINT_MAX + 1 == 0);
__global__ void kernel(float* x) { *x = M_PI; })");
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST_F(CpuHeaders, ProgrammaticLaunchesWaitForNothing) {
  EXPECT_THAT(run_on_zeros(R"(
__global__ void kernel(int* out) {
  cudaGridDependencySynchronize();
  out[threadIdx.x] = 7;
  cudaTriggerProgrammaticLaunchCompletion();
})",
                           {.block = {4, 1, 1}, .programmatic = true}, 4),
              Each(7));
}

TEST_F(CpuHeaders, MacrosAreThoseOfNvcc) {
  const auto compiled = compile(R"(
#if defined(__NVCC__) && defined(__CUDACC__) && __CUDACC_VER_MAJOR__ >= 12
__global__ void kernel(float* x) { *x = 1; }
#endif)",
                                "kernel", {"-D__CUDACC__"});
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST_F(CpuHeaders, LibrariesBringTheTypesOf16Bits) {
  const auto compiled = compile(R"(
#include <cublas_v2.h>
__global__ void kernel(__half* x, __nv_bfloat16* y) { *x = __float2half(__bfloat162float(*y)); })");
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST_F(CpuHeaders, TypesOfTheStandardLibraryThatNvccIncludesNeedNone) {
  const auto compiled = compile(R"(
template <class T, class U>
__device__ typename std::common_type<T, U>::type largest(T a, U b) { return a < b ? b : a; }
__global__ void kernel(float* x) {
  *x = std::max(largest(1, 2.0f), std::numeric_limits<float>::min()) + std::sqrt(*x);
})");
  EXPECT_TRUE(compiled) << compiled.error().message;
}

TEST_F(CpuHeaders, OneOfTheToolkitThatIsNotThereIsEmptyAndNamedWhereTheKernelNeedsIt) {
  for (const char* name : {"mma.h", "cub/block/block_radix_sort.cuh", "curand_kernel.h"}) {
    const std::string include = "#include <" + std::string(name) + ">\n";
    const auto unneeded = compile(include + "__global__ void kernel() {}");
    EXPECT_TRUE(unneeded) << unneeded.error().message;
    const auto by_another =
        compile(include + "__global__ void kernel() {}\n__global__ void other() { nvcuda::f(); }");
    EXPECT_TRUE(by_another) << by_another.error().message;
    const auto compiled = compile(include + "__global__ void kernel() { nvcuda::f(); }");
    ASSERT_FALSE(compiled) << name;
    EXPECT_THAT(compiled.error().message,
                AllOf(StartsWith("<" + std::string(name) + "> is not available on the cpu backend"),
                      HasSubstr("\"backends\": [\"cuda\"]")));
  }
  const auto grid = compile(
      "#include <cooperative_groups.h>\n"
      "__global__ void kernel() { cooperative_groups::this_grid().sync(); }");
  ASSERT_FALSE(grid);
  EXPECT_THAT(grid.error().message, HasSubstr("is not available on the cpu backend"));
}

TEST_F(CpuHeaders, CooperativeGroupsReduceScanAndVote) {
  const auto result = run_on_zeros(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
__global__ void kernel(int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int rank = block.thread_rank();
  const int sum = cg::reduce(tile, rank, cg::plus<int>());
  const int largest = cg::reduce(tile, rank, cg::greater<int>());
  const int before = cg::exclusive_scan(tile, 1);
  const unsigned odd = tile.ballot(rank & 1);
  block.sync();
  if (rank == 19) {
    out[0] = sum; out[1] = largest; out[2] = before; out[3] = odd;
    out[4] = tile.meta_group_rank(); out[5] = tile.shfl(rank, 2); out[6] = tile.size();
  } else {
    tile.shfl(rank, 2);
  }
})",
                                   {.block = {64, 1, 1}}, 7);
  EXPECT_THAT(result, ElementsAre(16 + 17 + 18 + 19 + 20 + 21 + 22 + 23, 23, 3, 0xaa, 2, 18, 8));
}

TEST_F(CpuHeaders, CubReducesAndScansBlocksAndWarps) {
  const auto result = run_on_zeros(R"(
#include <cub/block/block_reduce.cuh>
#include <cub/cub.cuh>
using Reduce = cub::BlockReduce<int, 48>;
using Scan = cub::BlockScan<int, 48>;
using Warp = cub::WarpReduce<int>;
using Load = cub::BlockLoad<int, 48, 2, cub::BLOCK_LOAD_STRIPED>;
__global__ void kernel(int* out) {
  __shared__ union { Reduce::TempStorage reduce; Scan::TempStorage scan; } storage;
  __shared__ Warp::TempStorage warp[2];
  const int rank = threadIdx.x;
  const int sum = Reduce(storage.reduce).Sum(rank);
  __syncthreads();
  const int most = Reduce(storage.reduce).Reduce(rank, cub::Max(), 40);
  __syncthreads();
  int items[2] = {1, rank};
  int prefixes[2], total;
  Scan(storage.scan).ExclusiveSum(items, prefixes, total);
  __syncthreads();
  int inclusive[2];
  Scan(storage.scan).InclusiveScan(items, inclusive, cub::Sum());
  int of_warp = 0;
  if (rank < 32) of_warp = Warp(warp[0]).Sum(1);
  if (rank == 0) { out[0] = sum; out[1] = most; out[2] = of_warp; }
  if (rank == 3) {
    out[3] = prefixes[0]; out[4] = prefixes[1]; out[5] = inclusive[0]; out[6] = inclusive[1];
    out[7] = total;
  }
})",
                                   {.block = {48, 1, 1}}, 8);
  EXPECT_THAT(result, ElementsAre(47 * 24, 39, 32, 3 + 3, 4 + 3, 4 + 3, 4 + 6, 48 + 47 * 24));
}

/// All 65,536 patterns of half go to float and back, and sums round to nearest even.
TEST_F(CpuHeaders, HalfAndBfloat16ConvertExactlyAndRoundToNearestEven) {
  const auto result = run_on_zeros(R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void kernel(int* out) {
  for (unsigned i = 0; i < 65536; ++i) {
    const __half h = __ushort_as_half(i);
    const __nv_bfloat16 b = __ushort_as_bfloat16(i);
    if (!__hisnan(h) && __half_as_ushort(__float2half(__half2float(h))) != i) ++out[0];
    if (!__hisnan(b) && __bfloat16_as_ushort(__float2bfloat16(__bfloat162float(b))) != i) ++out[1];
  }
  out[2] = __half2float(__float2half(2049.0f));           // between 2048 and 2050
  out[3] = __half2float(__float2half(2051.0f));           // between 2050 and 2052
  out[4] = __half_as_ushort(__float2half(65520.0f));      // rounds to infinity
  out[5] = __half_as_ushort(__float2half(5.9604645e-8f)); // the smallest
  out[6] = __half_as_ushort(__float2half(2.9802322e-8f)); // half of that: to even
  out[7] = __half2float(__hfma(__float2half(3), __float2half(4), __float2half(5)));
  const __half2 pair = __hadd2(__floats2half2_rn(1, 2), __float2half2_rn(3));
  out[8] = __low2float(pair) * 10 + __high2float(pair);
})",
                                   {}, 9);
  EXPECT_THAT(result, ElementsAre(0, 0, 2048, 2052, 0x7c00, 1, 0, 17, 45));
}

/// Expected are the results of the toolkit's own headers.
TEST_F(CpuHeaders, HalfAndBfloat16RoundAsTheFunctionSays) {
  const auto result = run_on_zeros(R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void kernel(int* out) {
  out[0] = __half_as_ushort(__float2half_rz(65535.0f));         // the largest
  out[1] = __half_as_ushort(__float2half_ru(1e-30f));           // the smallest
  out[2] = __half_as_ushort(__float2half_rd(-65505.0f));        // infinity
  out[3] = __half_as_ushort(__double2half(65519.9999999999));   // as float it would be 65520
  out[4] = __half_as_ushort(__double2half(1.000488281250001));  // likewise a tie
  out[5] = __half_as_ushort(__int2half_rz(-2051));
  out[6] = __half_as_ushort(__ll2half_rn(-(1ll << 40)));
  out[7] = __bfloat16_as_ushort(__float2bfloat16_rd(-1.001f));
  out[8] = __bfloat16_as_ushort(__ull2bfloat16_rn((257ull << 40) + 1));  // beside a tie
  out[9] = __bfloat16_as_ushort(__uint2bfloat16_ru(257));
  out[10] = __half2short_rz(__float2half(40000));
  out[11] = __half2uchar_rz(__float2half(-3));
  out[12] = __bfloat162int_rd(__float2bfloat16(-2.5f));
  out[13] = __half2ull_rz(__float2half(NAN)) == 1ull << 63;
})",
                                   {}, 14);
  EXPECT_THAT(result, ElementsAre(0x7bff, 1, 0xfc00, 0x7bff, 0x3c01, 0xe801, 0xfc00, 0xbf81, 0x5781,
                                  0x4381, 32767, 0, -3, 1));
}

TEST_F(CpuHeaders, HalvesAreComparedAndSaturatedAsTheFunctionSays) {
  const auto result = run_on_zeros(R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void kernel(int* out) {
  const __half nan = __float2half(NAN), one = __float2half(1), two = __float2half(2);
  out[0] = __hne(nan, one) * 1000 + __hneu(nan, one) * 100 + __hequ(nan, one) * 10 + __hlt(one, nan);
  out[1] = __hisinf(__float2half(-INFINITY)) * 10 + __hisinf(two);
  out[2] = __hisnan(__hmax_nan(nan, one)) * 10 + __hisnan(__hmax(nan, one));
  out[3] = __half2float(__hadd_sat(one, two)) * 100 + __half2float(__hmul_sat(nan, two));
  out[4] = __half2float(__hfma_relu(-two, two, one)) + __half2float(__hfma_sat(two, two, -one)) * 10;
  const __half2 a = __halves2half2(one, two), b = __halves2half2(two, two);
  out[5] = __heq2_mask(a, b) == 0xffff0000u && __hble2(a, b) && !__hblt2(a, b);
  out[6] = __low2float(__hlt2(a, b)) * 10 + __high2float(__hlt2(a, b));
  const __half2 c = __hcmadd(a, b, a);  // (1 + 2i) * (2 + 2i) + (1 + 2i)
  out[7] = __low2float(c) * 100 + __high2float(c);
  const __half2 d = __highs2half2(__lowhigh2highlow(a), b);
  out[8] = __low2float(d) * 10 + __high2float(d);
  const __half zero = __float2half(0);
  out[9] = __half_as_ushort(__hmax(-zero, zero)) + __half_as_ushort(__hmin(zero, -zero));
  out[10] = __bfloat16_as_ushort(__hfma(__float2bfloat16(1.5f), __float2bfloat16(1e9f), __float2bfloat16(1.5f)));
})",
                                   {}, 11);
  EXPECT_THAT(result, ElementsAre(110, -10, 10, 100, 10, 1, 10, -92, 12, 0x8000, 0x4eb3));
}

TEST_F(CpuHeaders, PairsAreAddedByAtomicsToo) {
  const auto result = run_on_zeros(R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void kernel(int* out) {
  __half2 h = __floats2half2_rn(1, 2);
  const __half2 before = atomicAdd(&h, __floats2half2_rn(3, 5));
  out[0] = __low2float(before) * 10 + __high2float(before);
  out[1] = __low2float(h) * 10 + __high2float(h);
  __nv_bfloat162 b = __floats2bfloat162_rn(1, 2);
  atomicAdd(&b, __floats2bfloat162_rn(3, 5));
  b += __floats2bfloat162_rn(1, 1);
  out[2] = __low2float(b) * 10 + __high2float(b);
  float4 f = {1, 2, 3, 4};
  atomicAdd(&f, float4{1, 1, 1, 1});
  out[3] = f.x * 1000 + f.y * 100 + f.z * 10 + f.w;
  float2 g = {1, 2};
  atomicAdd(&g, float2{1, 1});
  out[4] = g.x * 10 + g.y;
})",
                                   {}, 5);
  EXPECT_THAT(result, ElementsAre(12, 47, 58, 2345, 23));
}

TEST_F(CpuHeaders, IntrinsicsConvertAsAGpuDoes) {
  const auto result = run_on_zeros(R"(
__global__ void kernel(int* out) {
  out[0] = __float2int_rn(2.5f); out[1] = __float2int_rz(-2.5f); out[2] = __float2int_ru(2.1f);
  out[3] = __float2int_rd(-2.1f); out[4] = __float2int_rn(3e9f) == INT_MAX;
  out[5] = __float2int_rn(NAN); out[6] = __brev(1u) == 0x80000000u;
  out[7] = __byte_perm(0x33221100, 0x77665544, 0x7531) == 0x77553311;
  out[8] = __funnelshift_l(0x80000000u, 1u, 1); out[9] = __reduce_add_sync(1u, 5);
  float f = 1; atomicAdd(&f, 2.5f); out[10] = f * 2;
})",
                                   {}, 11);
  EXPECT_THAT(result, ElementsAre(2, -2, 3, -3, 1, 0, 1, 1, 3, 5, 7));
}

TEST_F(CpuHeaders, WordsAreAddedAndComparedByTheirParts) {
  const auto result = run_on_zeros(R"(
__global__ void kernel(unsigned* out) {
  out[0] = __vadd4(0x01ff7f80u, 0x01018080u); out[1] = __vsub2(0x00010000u, 0x00020001u);
  out[2] = __vmaxs4(0x7f80ff01u, 0x00000000u); out[3] = __vminu4(0x7f80ff01u, 0x80808080u);
  out[4] = __vabsdiffu4(0x05ff0001u, 0x0a010100u); out[5] = __vcmpeq4(0x01020304u, 0x01000300u);
  out[6] = __vmaxs2(0x8000fffeu, 0x7fff0001u); out[7] = __vcmpgtu2(0x00020001u, 0x00010001u);
})",
                                   {}, 8);
  const std::vector<unsigned> words(result.begin(), result.end());
  EXPECT_THAT(words, ElementsAre(0x0200ff00U, 0xffffffffU, 0x7f000001U, 0x7f808001U, 0x05fe0101U,
                                 0xff00ff00U, 0x7fff0001U, 0xffff0000U));
}

TEST_F(CpuHeaders, InstructionsForDynamicProgrammingAreThere) {
  const auto result = run_on_zeros(R"(
__global__ void kernel(unsigned* out) {
  bool upper, lower;
  out[0] = __viaddmax_s32(-5, 3, -1); out[1] = __viaddmax_s32(INT_MAX, 1, -7) == -7;
  out[2] = __viaddmin_u32(4000000000u, 1u, 7u); out[3] = __vimax3_s32(1, 9, 4);
  out[4] = __vimin3_s32_relu(-3, 2, 1); out[5] = __vimin3_u32(4000000000u, 3u, 5u);
  out[6] = __vimax3_s16x2(0x0001ffffu, 0xfff00002u, 0x0000fffeu);
  out[7] = __viaddmax_s16x2_relu(0x7fff0001u, 0x0001fff0u, 0xfff1fff2u);
  out[8] = __viaddmin_u16x2(0xffff0001u, 0x00030001u, 0x00090009u);
  out[9] = __vimax_s32_relu(-4, -2); out[10] = __vimin_s16x2_relu(0x0003fff0u, 0x00050001u);
  out[11] = __vibmax_s32(2, 2, &lower); out[12] = lower;
  out[13] = __vibmin_u32(3u, 2u, &lower); out[14] = lower;
  out[15] = __vibmax_s16x2(0x0001fffeu, 0xffff0001u, &upper, &lower); out[16] = upper * 2 + lower;
})",
                                   {}, 17);
  const std::vector<unsigned> words(result.begin(), result.end());
  EXPECT_THAT(words, ElementsAre(0xffffffffU, 1U, 7U, 9U, 0U, 3U, 0x00010002U, 0U, 0x00020002U, 0U,
                                 0x00030000U, 2U, 1U, 2U, 0U, 0x00010001U, 2U));
}

TEST_F(CpuHeaders, WholeNumbersHaveTheFunctionsOfAGpu) {
  const auto result = run_on_zeros(R"(
__global__ void kernel(int* out) {
  __builtin_assume(blockDim.x == 1);
  out[0] = umin(3u, 4000000000u); out[1] = umax(3u, 4000000000u) == 4000000000u;
  out[2] = llmin(-1ll << 40, 5) < 0; out[3] = ullmax(1, 1ull << 63) >> 63;
  out[4] = __mul64hi(-1ll << 62, 8); out[5] = __rhadd(-3, -2); out[6] = __urhadd(4294967295u, 1u) == 1u << 31;
  double s, c; sincospi(0.5, &s, &c); out[7] = s * 10; out[8] = norm3d(2.0, 3.0, 6.0);
  out[9] = rcbrt(0.125) * 10;
})",
                                   {}, 10);
  EXPECT_THAT(result, ElementsAre(3, 1, 1, 1, -2, -2, 1, 10, 7, 20));
}

// The lists of the CUDA Math API Reference.
TEST_F(CpuHeaders, TheFunctionsOfCudasMathApiAreThere) {
  const auto compiled = compile(R"(
#define BOTH(name, ...) r += name(__VA_ARGS__); s += name##f(__VA_ARGS__);
#define ONE(name) BOTH(name, x)
__global__ void kernel(double* out) {
  double r = 0, x = out[0], d; float s = 0, f; int i = 0; long l = 1;
  ONE(acos) ONE(acosh) ONE(asin) ONE(asinh) ONE(atan) ONE(atanh) ONE(cbrt) ONE(ceil) ONE(cos) ONE(cosh) ONE(cospi)
  ONE(cyl_bessel_i0) ONE(cyl_bessel_i1) ONE(erf) ONE(erfc) ONE(erfcinv) ONE(erfcx) ONE(erfinv) ONE(exp) ONE(exp10)
  ONE(exp2) ONE(expm1) ONE(fabs) ONE(floor) ONE(ilogb) ONE(j0) ONE(j1) ONE(lgamma) ONE(llrint) ONE(llround) ONE(log)
  ONE(log10) ONE(log1p) ONE(log2) ONE(logb) ONE(lrint) ONE(lround) ONE(nearbyint) ONE(normcdf) ONE(normcdfinv)
  ONE(rcbrt) ONE(rint) ONE(round) ONE(rsqrt) ONE(sin) ONE(sinh) ONE(sinpi) ONE(sqrt) ONE(tan) ONE(tanh) ONE(tgamma)
  ONE(trunc) ONE(y0) ONE(y1)
  BOTH(atan2, x, x) BOTH(copysign, x, x) BOTH(fdim, x, x) BOTH(fmax, x, x) BOTH(fmin, x, x) BOTH(fmod, x, x)
  BOTH(hypot, x, x) BOTH(nextafter, x, x) BOTH(pow, x, x) BOTH(remainder, x, x) BOTH(rhypot, x, x) BOTH(fma, x, x, x)
  BOTH(norm3d, x, x, x) BOTH(rnorm3d, x, x, x) BOTH(norm4d, x, x, x, x) BOTH(rnorm4d, x, x, x, x) BOTH(nan, "")
  BOTH(jn, i, x) BOTH(yn, i, x) BOTH(ldexp, x, i) BOTH(scalbn, x, i) BOTH(scalbln, x, l) BOTH(frexp, x, &i) BOTH(remquo, x, x, &i)
  r += modf(x, &d) + norm(1, &d) + rnorm(1, &d); s += modff(s, &f) + normf(1, &f) + rnormf(1, &f) + fdividef(s, s);
  sincos(x, &d, &r); sincosf(x, &f, &s); sincospi(x, &d, &r); sincospif(x, &f, &s);
  out[0] = r + s + isfinite(x) + isinf(x) + isnan(x) + signbit(x) + max(r, x) + min(r, x);
})");
  EXPECT_TRUE(compiled) << compiled.error().message;
}

// Values: Abramowitz and Stegun, tables 7.1, 9.1, 9.8 and 26.5, with more digits.
TEST_F(CpuHeaders, SpecialFunctionsAreThere) {
  const auto result = run_on_zeros(R"(
__device__ int near(double x, double expected) { return fabs(x - expected) <= 2e-15 * fabs(expected); }
__global__ void kernel(int* out) {
  out[0] = near(j0(1.0), 0.76519768655796655) && near(y0(1.0), 0.088256964215676958);
  out[1] = near(cyl_bessel_i0(1.0), 1.2660658777520084) && near(cyl_bessel_i1(1.0), 0.56515910399248502);
  out[2] = near(cyl_bessel_i0(-20.0), 43558282.559553528) && cyl_bessel_i1(-1.0) < 0;
  out[3] = near(erfinv(0.5), 0.47693627620446987) && near(erfinv(-1e-20), -8.8622692545275801e-21);
  out[4] = near(erfcinv(1e-10), 4.5728249673894852) && near(erfcinv(1.5), -0.47693627620446987);
  out[5] = near(erfcx(10.0), 0.056140992743822589) && near(erfcx(1.0), 0.42758357615580700);
  out[6] = near(normcdfinv(0.975), 1.9599639845400545) && near(normcdfinv(0.25), -0.67448975019608174);
  out[7] = erfinv(1.0) == INFINITY && erfcinv(2.0) == -INFINITY && isnan(erfinv(1.5)) && isnan(erfcinv(-1.0));
  const double x[] = {2, 3, 6}; float y1 = 0.25f; out[8] = norm(3, x) == 7 && llround(2.5) == 3 && y1 < 1;
  out[9] = fabsf(erfinvf(0.5f) - 0.476936276f) < 6e-8f && jn(2, 0.0) == 0;
})",
                                   {}, 10);
  EXPECT_THAT(result, Each(1));
}

TEST_F(CpuHeaders, ArithmeticRoundsInEveryDirection) {
  const auto result = run_on_zeros(R"(
#define NEIGHBOURS(name, ...) \
  (name##_rd(__VA_ARGS__) < name##_ru(__VA_ARGS__) && \
   nextafter(name##_rd(__VA_ARGS__), name##_ru(__VA_ARGS__)) == name##_ru(__VA_ARGS__))
__global__ void kernel(int* out) {
  const float third = 1.0f / 3.0f, tiny = 1e-30f;
  out[0] = __fadd_ru(1.0f, tiny) == 1.0f + FLT_EPSILON && __fadd_rd(1.0f, tiny) == 1.0f && __fadd_rz(-1.0f, -tiny) == -1.0f;
  out[1] = __fsub_rz(1.0f, tiny) == 1.0f - FLT_EPSILON / 2 && __fsub_rz(-1.0f, -tiny) == -(1.0f - FLT_EPSILON / 2);
  out[2] = NEIGHBOURS(__fdiv, 1.0f, 3.0f) && NEIGHBOURS(__fdiv, 1.0f, -3.0f) && __fdiv_rz(1.0f, -3.0f) == -__fdiv_rd(1.0f, 3.0f);
  out[3] = NEIGHBOURS(__fmul, third, third) && NEIGHBOURS(__frcp, 3.0f) && NEIGHBOURS(__fsqrt, 2.0f);
  out[4] = __fmul_rd(3.0f, 5.0f) == 15.0f && __fmul_ru(3.0f, 5.0f) == 15.0f && __fsqrt_ru(4.0f) == 2.0f;
  out[5] = __fmul_rz(FLT_MAX, 2.0f) == FLT_MAX && __fmul_ru(FLT_MAX, 2.0f) == INFINITY && __fdiv_rd(1.0f, 0.0f) == INFINITY;
  out[6] = NEIGHBOURS(__fmaf, third, third, 1.0f) && __fmaf_ru(1.0f, 1.0f, tiny) > 1.0f && __fmaf_rd(1.0f, 1.0f, tiny) == 1.0f;
  out[7] = NEIGHBOURS(__dadd, 1.0, 1e-300) && NEIGHBOURS(__dmul, 0.1, 0.1) && NEIGHBOURS(__ddiv, 1.0, 3.0) && NEIGHBOURS(__dsqrt, 2.0);
  out[8] = NEIGHBOURS(__fma, 0.1, 0.1, 1.0) && __fma_ru(1.0, 1.0, 1e-300) > 1.0 && __fma_rd(1.0, 1.0, 1e-300) == 1.0;
  out[9] = __int2float_rd(16777217) == 16777216.0f && __int2float_ru(16777217) == 16777218.0f && __ull2float_rz(~0ull) == 18446742974197923840.0f;
  out[10] = __double2float_rz(-0.1) > __double2float_rd(-0.1) && __double2float_rz(1e300) == FLT_MAX && __ll2double_ru((1ll << 53) + 1) == 9007199254740994.0;
})",
                                   {}, 11);
  EXPECT_THAT(result, Each(1));
}

TEST_F(CpuHeaders, VariablesInConstantMemoryAreFilledBeforeEveryLaunch) {
  const KernelId kernel = load(
      "static __constant__ float weights[3];\n"
      "__global__ void kernel(float* y) { y[threadIdx.x] = weights[threadIdx.x]; }");
  const BufferId y = upload(std::vector<float>(3));
  Launch launch{.kernel = kernel, .steps = {{.geometry = {.block = {3, 1, 1}}, .arguments = {y}}}};
  for (const float first : {1.0F, 2.0F}) {
    const std::vector<float> weights = {first, 5, 6};
    const auto bytes = std::as_bytes(std::span(weights));
    launch.symbols = {{"weights", "weights", {.bytes = {bytes.begin(), bytes.end()}}}};
    const auto done = backend().run(launch);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(download<float>(y, 3), weights);
  }
}

/// A kernel that keeps the number of the block that came first.
TEST_F(CpuHeaders, BlocksBeginInAnotherOrderAtEveryLaunch) {
  const KernelId kernel = load(
      "__global__ void kernel(int* out) { atomicCAS(&out[0], 0, static_cast<int>(blockIdx.x) + "
      "1);\n"
      "  atomicAdd(&out[1 + blockIdx.x], 1); }");
  std::set<int> first;
  for (int launch = 0; launch < 8; ++launch) {
    const BufferId out = upload(std::vector<int>(1 + 97));
    ASSERT_TRUE(backend().run(Launch{
        .kernel = kernel, .steps = {{.geometry = {.grid = {97, 1, 1}}, .arguments = {out}}}}));
    const auto result = download<int>(out, 1 + 97);
    first.insert(result[0]);
    EXPECT_EQ(std::accumulate(result.begin() + 1, result.end(), 0), 97);
    EXPECT_THAT(std::vector<int>(result.begin() + 1, result.end()), Each(1));
  }
  EXPECT_GE(first.size(), 4U);
}

}  // namespace
}  // namespace tuner::backend
