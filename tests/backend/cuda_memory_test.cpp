// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"

#include <numeric>

namespace tuner::backend {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class CudaMemoryTest : public CudaTest {};

TEST_F(CudaMemoryTest, KnowsItsDevice) {
  const space::DeviceInfo& device = backend().device();
  EXPECT_EQ(device.backend, "cuda");
  EXPECT_THAT(device.name, HasSubstr("NVIDIA"));
  EXPECT_THAT(device.uuid, MatchesRegex("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"));
  const space::DeviceAttributes& limits = device.attributes;
  EXPECT_EQ(device.architecture, "sm_" + std::to_string(limits.compute_capability));
  EXPECT_EQ(limits.warp_size, 32);
  EXPECT_EQ(limits.max_threads_per_block, 1024);
  EXPECT_EQ(limits.max_smem_per_block, 48 * 1024);
  EXPECT_GT(limits.max_smem_per_block_optin, limits.max_smem_per_block);
  EXPECT_GE(limits.smem_per_sm, limits.max_smem_per_block_optin);
  EXPECT_EQ(limits.registers_per_block, 65536);
  EXPECT_EQ(limits.registers_per_sm, 65536);
  EXPECT_GE(limits.max_threads_per_sm, 1024);
  EXPECT_GE(limits.max_blocks_per_sm, 16);
  EXPECT_GE(limits.sm_count, 1);
  EXPECT_GE(limits.l2_bytes, 1 << 20);
  EXPECT_GE(limits.memory_bytes, std::int64_t{1} << 30);
}

TEST_F(CudaMemoryTest, KnowsItsVersions) {
  const space::EnvironmentInfo& environment = backend().environment();
  EXPECT_THAT(environment.driver, MatchesRegex("[0-9]+\\.[0-9.]+|CUDA [0-9]+\\.[0-9]+"));
  EXPECT_THAT(environment.compiler, StartsWith("NVRTC "));
  EXPECT_THAT(environment.library, MatchesRegex("cuBLAS [0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_FALSE(environment.tool.empty());
}

TEST_F(CudaMemoryTest, ReadsBackWhatWasWritten) {
  std::vector<int> values(100'003);
  std::iota(values.begin(), values.end(), -50);
  const Buffer buffer = upload(values);
  EXPECT_EQ(download<int>(buffer), values);
}

TEST_F(CudaMemoryTest, FillsWithA32BitPatternAndLeavesTheRest) {
  const Buffer buffer = upload(std::vector<std::uint32_t>(1000, 7));
  backend().fill(buffer.id(), 0x7fa01234, 990 * sizeof(std::uint32_t));
  std::vector<std::uint32_t> values = download<std::uint32_t>(buffer);
  EXPECT_THAT(std::span(values).first(990), Each(0x7fa01234U));
  EXPECT_THAT(std::span(values).last(10), Each(7U));
}

TEST_F(CudaMemoryTest, CopiesBetweenBuffers) {
  const Buffer from = upload(std::vector<float>{1, 2, 3, 4});
  const Buffer to = upload(std::vector<float>{9, 9, 9, 9});
  backend().copy(to.id(), from.id(), 3 * sizeof(float));
  EXPECT_EQ(download<float>(to), (std::vector<float>{1, 2, 3, 9}));
}

TEST_F(CudaMemoryTest, KernelsWorkOnPinnedMemoryOfTheHostWhereItIs) {
  constexpr std::size_t kCount = 1000;
  const PinnedBuffer x = backend().allocate_pinned(kCount * sizeof(float));
  const PinnedBuffer y = backend().allocate_pinned(kCount * sizeof(float));
  const Buffer owners[] = {{backend(), x.id, x.bytes.size()}, {backend(), y.id, y.bytes.size()}};
  const std::span at(reinterpret_cast<float*>(x.bytes.data()), kCount);
  std::iota(at.begin(), at.end(), 0.0F);
  const LoadedKernel kernel = build(kAxpy, "axpy");
  const auto done = backend().run(Launch{
      .kernel = kernel.id(),
      .steps = {{.geometry = {.grid = {4, 1, 1}, .block = {256, 1, 1}, .dynamic_shared_bytes = 0},
                 .arguments = {family::Scalar(2.0F), Region(x.id), Region(y.id),
                               family::Scalar(std::int64_t{kCount})}}}});
  ASSERT_TRUE(done) << done.error().message;
  const std::span result(reinterpret_cast<const float*>(y.bytes.data()), kCount);
  EXPECT_EQ(result[1], 2);
  EXPECT_EQ(result[kCount - 1], 2 * (kCount - 1));
}

TEST_F(CudaMemoryTest, ARegionBeginsInsideABuffer) {
  const Buffer from = upload<int>({1, 2, 3, 4});
  const Buffer to = upload<int>({0, 0, 0, 0});
  backend().copy({to.id(), 4}, {from.id(), 8}, 8);
  backend().fill({to.id(), 12}, 9, 4);
  EXPECT_EQ(download<int>(to), (std::vector<int>{0, 3, 4, 9}));
  EXPECT_THROW(backend().fill({to.id(), 12}, 9, 8), Error) << "over the buffer's end";
}

TEST_F(CudaMemoryTest, RefusesToGoBeyondABuffer) {
  const Buffer buffer(backend(), 16);
  EXPECT_THROW(backend().fill(buffer.id(), 0, 20), Error);
  std::vector<std::byte> data(17);
  EXPECT_THROW(backend().read(buffer.id(), data), Error);
  EXPECT_THROW(backend().write(buffer.id(), data), Error);
}

TEST_F(CudaMemoryTest, SaysHowMuchMemoryIsMissingAndGoesOn) {
  try {
    static_cast<void>(backend().allocate(std::size_t{1} << 44));
    FAIL() << "16 TiB of device memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::failure);
    EXPECT_THAT(error.what(), HasSubstr("16384.00 GiB requested"));
  }
  EXPECT_EQ(download<int>(upload(std::vector<int>{1, 2})), (std::vector<int>{1, 2}));
}

}  // namespace
}  // namespace tuner::backend
