// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"
#include "tuner/backend/cuda/captured_work.hpp"

#include <cuda_runtime.h>

#include <array>
#include <functional>
#include <optional>

namespace tuner::backend {
namespace {

/// What these do does not matter: they are captured, never run.
const std::string kKernels = R"(
struct Counted { int count; float* values; };
struct alignas(64) Map { unsigned long long opaque[16]; };
extern "C" __global__ void bare() {}
extern "C" __global__ void plain(int, const float*, float*) {}
extern "C" __global__ void counted(Counted) {}
extern "C" __global__ void mapped(const __grid_constant__ Map) {}
)";

struct Counted {
  int count;
  CUdeviceptr values;
};

class CudaCapturedWorkTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    api_.emplace();
    family::CompileJob job;
    job.source = {.name = "test.cu", .text = kKernels, .headers = {}};
    job.entries = {"bare", "plain", "counted", "mapped"};
    const auto binary = backend().compiler().compile(job);
    ASSERT_TRUE(binary) << binary.error().message;
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    ASSERT_EQ(driver().load_library(&library_, binary->image.data(), nullptr, nullptr, 0, nullptr,
                                    nullptr, 0),
              CUDA_SUCCESS);
    for (CUdeviceptr* const memory : {&workspace_, &other_}) {
      ASSERT_EQ(driver().allocate(memory, kBytes), CUDA_SUCCESS);
    }
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
    for (const CUdeviceptr memory : {workspace_, other_}) {
      if (memory != 0) driver().free(memory);
    }
    if (library_ != nullptr) driver().unload_library(library_);
  }

  void launch(const char* name, std::vector<void*> arguments, bool by_function = false) {
    CUkernel kernel = nullptr;
    ASSERT_EQ(driver().get_kernel(&kernel, library_, name), CUDA_SUCCESS);
    auto* function = reinterpret_cast<CUfunction>(kernel);
    if (by_function) {
      ASSERT_EQ(driver().get_function(&function, kernel), CUDA_SUCCESS);
    }
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream_;
    ASSERT_EQ(driver().launch_kernel(&config, function, arguments.data(), nullptr), CUDA_SUCCESS);
  }
  void launch_plain(CUdeviceptr from, CUdeviceptr to, bool by_function = false) {
    int count = 1;
    launch("plain", {&count, &from, &to}, by_function);
  }

  /// Whether the work may use the workspace, captured behind a kernel that does.
  [[nodiscard]] bool may_use(const std::function<void()>& work) {
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), cudaSuccess);
    launch_plain(workspace_, workspace_);
    const CapturedWork captured(driver(), stream_);
    work();
    const bool answer = captured.may_use(workspace_, kBytes);
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return answer;
  }

  static constexpr std::size_t kBytes = 1 << 20;
  [[nodiscard]] const DriverApi& driver() const { return *api_; }

  std::optional<DriverApi> api_;
  CUlibrary library_ = nullptr;
  CUdeviceptr workspace_ = 0, other_ = 0;
  cudaStream_t stream_ = nullptr;
};

TEST_F(CudaCapturedWorkTest, KernelsWithoutAnAddressThereDoNotUseIt) {
  EXPECT_FALSE(may_use([] {}));
  for (const bool by_function : {false, true}) {
    EXPECT_FALSE(may_use([&] {
      launch_plain(other_, other_, by_function);
      launch_plain(workspace_ - 4, workspace_ + kBytes, by_function);
    }));
  }
}

TEST_F(CudaCapturedWorkTest, AnyAddressThereIsFound) {
  for (const CUdeviceptr address : {workspace_, workspace_ + 4, workspace_ + kBytes - 1}) {
    EXPECT_TRUE(may_use([&] { launch_plain(address, other_); }));
    EXPECT_TRUE(may_use([&] { launch_plain(other_, address, true); }));
    EXPECT_TRUE(may_use([&] {
      launch_plain(other_, address);
      launch_plain(other_, other_);
    })) << "in the first of two kernels";
    Counted pair = {.count = 1, .values = address};
    EXPECT_TRUE(may_use([&] { launch("counted", {&pair}); })) << "in a structure";
  }
}

TEST_F(CudaCapturedWorkTest, AnAddressInATensorMapIsFound) {
  const PFN_cuTensorMapEncodeTiled_v12000 encode =
      driver().library.symbol("cuTensorMapEncodeTiled");
  const auto with_map_of = [&](CUdeviceptr memory) {
    CUtensorMap map = {};
    const std::array<cuuint64_t, 2> extents = {64, 64};
    const std::array<cuuint64_t, 1> strides = {256};
    const std::array<cuuint32_t, 2> box = {8, 8}, steps = {1, 1};
    EXPECT_EQ(encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, reinterpret_cast<void*>(memory),
                     extents.data(), strides.data(), box.data(), steps.data(),
                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                     CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
              CUDA_SUCCESS);
    return may_use([&] { launch("mapped", {&map}); });
  };
  EXPECT_TRUE(with_map_of(workspace_));
  EXPECT_TRUE(with_map_of(workspace_ + 4096));
  EXPECT_FALSE(with_map_of(other_));
}

TEST_F(CudaCapturedWorkTest, WhatCannotBeReadMayUseIt) {
  EXPECT_TRUE(may_use([&] { launch("bare", {}); }));
  EXPECT_TRUE(may_use([&] {
    EXPECT_EQ(cudaMemsetAsync(reinterpret_cast<void*>(other_), 0, 64, stream_), cudaSuccess);
  }));
}

TEST_F(CudaCapturedWorkTest, NothingOfAnInvalidatedCaptureRuns) {
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  const CapturedWork captured(driver(), stream_);
  launch_plain(workspace_, workspace_);
  EXPECT_NE(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_FALSE(captured.may_use(workspace_, kBytes));
  cudaGraph_t graph = nullptr;
  EXPECT_NE(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

}  // namespace
}  // namespace tuner::backend
