// SPDX-License-Identifier: Apache-2.0
// The energy of kernels on a GPU whose counter can be read.
#include "cuda_fixture.hpp"

namespace tuner::backend {
namespace {

class CudaEnergyTest : public CudaTest {};

TEST_F(CudaEnergyTest, IsPowerTimesTimeAndMoreUnderLoadThanAtRest) {
  const std::optional<double> idle = backend().idle_watts();
  if (!idle) GTEST_SKIP() << "this device, or its driver, does not tell its energy";
  const LoadedKernel axpy = build(kAxpy, "axpy");
  constexpr std::int64_t kCount = std::int64_t{1} << 26;
  const Buffer x(backend(), kCount * sizeof(float)), y(backend(), kCount * sizeof(float));
  const Launch launch{.kernel = axpy.id(),
                      .steps = {{.geometry = {.grid = {kCount / 256, 1, 1}, .block = {256, 1, 1}},
                                 .arguments = {1.0F, x.id(), y.id(), kCount}}}};
  constexpr double kWindow_s = 2;
  const auto first = backend().measure_energy(launch, kWindow_s);
  const auto second = backend().measure_energy(launch, kWindow_s);
  ASSERT_TRUE(first && *first && second && *second);
  const auto hot_ns = backend().time_hot(launch);
  ASSERT_TRUE(hot_ns);
  EXPECT_GT((*first)->watts, *idle);
  EXPECT_NEAR((*first)->joules, (*first)->watts * *hot_ns * 1e-9, 0.1 * (*first)->joules);
  EXPECT_NEAR((*first)->joules, (*second)->joules, 0.05 * (*first)->joules);
}

}  // namespace
}  // namespace tuner::backend
