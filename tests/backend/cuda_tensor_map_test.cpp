// SPDX-License-Identifier: Apache-2.0
#include "cuda_fixture.hpp"

#include <numeric>

namespace tuner::backend {
namespace {

using ::testing::HasSubstr;

/// Copies the box of 8 x 4 floats at (x, y) of a tensor into out.
const std::string kCopyBox = R"(
struct alignas(64) Map { unsigned long long opaque[16]; };
__global__ void copy_box(const float*, float* out, int x, int y, const __grid_constant__ Map map) {
  __shared__ alignas(128) float box[32];
  __shared__ unsigned long long barrier;
  const unsigned to = __cvta_generic_to_shared(box), full = __cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full));
    asm volatile("fence.mbarrier_init.release.cluster;");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" ::"r"(full) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];"
                 ::"r"(to), "l"(&map), "r"(x), "r"(y), "r"(full) : "memory");
  }
  __syncthreads();
  asm volatile("{\n.reg .pred done;\nagain:\n"
               "mbarrier.try_wait.parity.shared.b64 done, [%0], 0;\n@!done bra again;\n}"
               ::"r"(full) : "memory");
  out[threadIdx.x] = box[threadIdx.x];
}
)";

class CudaTensorMapTest : public TensorMapTest {
 protected:
  /// The box at (x, y) of a matrix of 10 columns and 6 rows, numbered in memory, whose rows lie
  /// `pitch` floats apart, the first of them `offset` floats into a buffer.
  [[nodiscard]] Expected<std::vector<float>, Failure> box_at(std::int32_t x, std::int32_t y,
                                                             std::uint64_t pitch,
                                                             std::uint64_t offset = 0) {
    const LoadedKernel kernel = build(kCopyBox, "copy_box");
    std::vector<float> numbers(offset + 6 * pitch);
    std::iota(numbers.begin(), numbers.end(), 0.0F);
    const Buffer matrix = upload(numbers);
    const Buffer out(backend(), 32 * sizeof(float));
    const family::TensorLayout layout{.type = family::ElementType::f32,
                                      .offset = offset,
                                      .extents = {10, 6},
                                      .strides = {pitch},
                                      .box = {8, 4}};
    const auto done = backend().run(Launch{
        .kernel = kernel.id(),
        .steps = {{.geometry = {.block = {32, 1, 1}},
                   .arguments = {matrix.id(), out.id(), x, y, Tensor{matrix.id(), layout}}}}});
    if (!done) return Unexpected(done.error());
    return download<float>(out);
  }
};

TEST_F(CudaTensorMapTest, BringsABoxWithZerosBeyondTheTensor) {
  const auto box = box_at(4, 3, 12);
  ASSERT_TRUE(box) << box.error().message;
  std::vector<float> expected;
  for (int row = 3; row < 7; ++row) {
    for (int column = 4; column < 12; ++column) {
      expected.push_back(row < 6 && column < 10 ? static_cast<float>(row * 12 + column) : 0.0F);
    }
  }
  EXPECT_EQ(*box, expected);
}

TEST_F(CudaTensorMapTest, BeginsAtTheMultipleOf16BytesBeforeTheTensor) {
  constexpr std::uint64_t kOffset = 4 + 3;
  const auto box = box_at(8, 0, 12, kOffset);
  ASSERT_TRUE(box) << box.error().message;
  std::vector<float> expected;
  for (int row = 0; row < 4; ++row) {
    for (int column = 8; column < 16; ++column) {
      expected.push_back(column < 3 + 10 ? static_cast<float>(4 + row * 12 + column) : 0.0F);
    }
  }
  EXPECT_EQ(*box, expected);
}

TEST_F(CudaTensorMapTest, RefusesWhatTheDriverRefusesAndStaysUsable) {
  const auto refused = box_at(0, 0, 13);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().outcome, Outcome::launch_error);
  EXPECT_THAT(refused.error().message,
              HasSubstr("no tensor map of extents 10x6, strides [13] and boxes 8x4"));
  EXPECT_TRUE(box_at(0, 0, 12));
}

}  // namespace
}  // namespace tuner::backend
