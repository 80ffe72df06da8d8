// SPDX-License-Identifier: Apache-2.0
// The kernels of this repository compile for a GPU.
#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/backend/cuda/nvrtc_compiler.hpp"
#include "tuner/core/file.hpp"
#include "tuner/family/family.hpp"
#include "tuner/space/space.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>

namespace tuner {
namespace {

class CudaKernelsTest : public testing::TestWithParam<const char*> {};

TEST_P(CudaKernelsTest, CompileAtTheirDefaultsAndElsewhereInTheirSpaces) {
  const DeviceInfo device = *device_profile("h200");
  const NvrtcCompiler compiler(device.architecture);
  const Family family = load_family(TUNER_SOURCE_DIR "/spaces/" + std::string(GetParam()));
  std::mt19937_64 random(7);
  for (const Kernel& kernel : family.kernels) {
    const Size& size = family.sizes("smoke").front();
    const Space space(kernel.space, device.attributes, size);
    std::vector<Config> configs = {space.default_config()};
    while (configs.size() < 3) configs.push_back(space.sample(random));
    for (const Config& config : configs) {
      const auto binary = compiler.compile(compile_job(kernel, space, config));
      EXPECT_TRUE(binary) << kernel.name << " " << display(*kernel.space, config) << "\n"
                          << binary.error().message;
    }
  }
}

class BackendKernelsTest : public testing::TestWithParam<const char*> {};

TEST_P(BackendKernelsTest, CompileForEveryArchitecture) {
  for (const char* const architecture : {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"}) {
    const auto binary = NvrtcCompiler(architecture).compile(backend_kernel_job(GetParam()));
    ASSERT_TRUE(binary) << architecture << "\n" << binary.error().message;
    EXPECT_GT(binary->image.size(), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Own, BackendKernelsTest,
                         testing::Values("hold_stream", "read_clocks", "measure_timer_step",
                                         "poison_shared_memory"));

/// The kernels whose ranking is known beforehand, of benchmarks/measurement, and what they include
/// in a folder of their own, as the benchmarks put them.
TEST(PlantedKernelsTest, Compile) {
  const TemporaryDirectory folder;
  const std::filesystem::path source = TUNER_SOURCE_DIR;
  for (const char* const file :
       {"benchmarks/measurement/planted.json", "benchmarks/measurement/gemm_planted.cu",
        "kernels/gemm/gemm_shared.cu"}) {
    std::filesystem::copy(source / file, folder.path());
  }
  const DeviceInfo device = *device_profile("h200");
  const NvrtcCompiler compiler(device.architecture);
  const Family family = load_family((folder.path() / "planted.json").string());
  for (const Kernel& kernel : family.kernels) {
    const Space space(kernel.space, device.attributes, family.sizes("default").front());
    const Config config = config_from_text(*kernel.space, "ALIAS=8");
    const auto binary = compiler.compile(compile_job(kernel, space, config));
    EXPECT_TRUE(binary) << kernel.name << "\n" << binary.error().message;
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisRepository, CudaKernelsTest, testing::Values("gemm.json"));

}  // namespace
}  // namespace tuner
