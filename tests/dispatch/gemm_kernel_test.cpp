// SPDX-License-Identifier: Apache-2.0
// What only a tuned kernel may serve.
#include "tests/cublas/gemm_family.hpp"
#include "tests/dispatch/engine_fixture.hpp"

namespace tuner::dispatch {
namespace {

class GemmKernelTest : public EngineTest {
 protected:
  void open_gemm() {
    auto executor = std::make_unique<FakeExecutor>();
    device = executor.get();
    DispatchOptions options;
    options.cache = cache.path() / "binaries";
    engine = std::make_unique<Engine>(std::move(executor), Table::database(database.path()),
                                      options, settings);
  }
  KernelUse use(backend::StreamHandle stream = nullptr, GemmType type = GemmType::f32) {
    const std::array<DispatchArgument, 7> arguments = {2.0F, data, data, 1.0F, data, data, data};
    return engine->launch_gemm_kernel(type, {8, 16, 4, 1, 0, 0, 4, 16, 16}, {}, arguments, stream);
  }
};

TEST_F(GemmKernelTest, ATunedKernelIsLaunchedAndSaysWhatItSaves) {
  database.add_all(cublas::tuned_gemm({"8,16,4"}));
  open_gemm();
  for (int i = 0; i < 2; ++i) {  // prepared by the first
    const KernelUse it = use();
    EXPECT_EQ(it.end, KernelEnd::launched);
    EXPECT_DOUBLE_EQ(it.saved_ns, 1e6) << "the library takes twice as long";
  }
  EXPECT_EQ(device->launches, 2);
}

TEST_F(GemmKernelTest, OtherwiseNothingIsLaunched) {
  database.add({.size = "8,16,4"});
  open_gemm();
  EXPECT_EQ(use().end, KernelEnd::untuned) << "there is no family gemm";
  database.add_all(cublas::tuned_gemm({"8,16,4"}, 0.5));
  open_gemm();
  EXPECT_EQ(use().end, KernelEnd::library);
  EXPECT_EQ(use(device->unusable).end, KernelEnd::library) << "known without the stream";
  EXPECT_EQ(device->launches, 0);
  EXPECT_EQ(device->last.entry, "");
}

TEST_F(GemmKernelTest, AnotherTypeIsNeverServedByAKernelOfFloat) {
  database.add_all(cublas::tuned_gemm({"8,16,4"}));
  open_gemm();
  EXPECT_EQ(use(nullptr, GemmType::bf16).end, KernelEnd::untuned) << "in a family that has bf16";
  EXPECT_EQ(use(nullptr, GemmType::bf16_f32).end, KernelEnd::untuned) << "which it does not have";
  EXPECT_EQ(device->launches, 0);
}

TEST_F(GemmKernelTest, DuringCaptureOnlyAPreparedSizeIsServed) {
  database.add_all(cublas::tuned_gemm({"8,16,4"}));
  open_gemm();
  device->capturing[stream_number(3)] = 7;
  EXPECT_EQ(use(stream_number(3)).end, KernelEnd::unprepared);
  EXPECT_EQ(device->forbidden_calls, 0);
  device->capturing.clear();
  EXPECT_EQ(use().end, KernelEnd::launched);
  device->capturing[stream_number(3)] = 7;
  EXPECT_EQ(use(stream_number(3)).end, KernelEnd::launched);
  EXPECT_EQ(device->forbidden_calls, 0);
}

TEST_F(GemmKernelTest, AKernelThatFailsIsNotTriedAgain) {
  database.add_all(cublas::tuned_gemm({"8,16,4"}));
  open_gemm();
  EXPECT_EQ(use(device->unusable).end, KernelEnd::failed);
  device->fails_to_launch.insert("plain<float,float,float,0,0,2>");
  EXPECT_EQ(use().end, KernelEnd::failed);
  EXPECT_EQ(device->last.entry, "plain<float,float,float,0,0,2>");
  device->last = {};
  EXPECT_EQ(use().end, KernelEnd::library);
  EXPECT_EQ(device->last.entry, "");
}

}  // namespace
}  // namespace tuner::dispatch
