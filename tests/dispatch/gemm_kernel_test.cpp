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
    return engine->launch_gemm_kernel(type, blas::packed_gemm(8, 16, 4), {}, arguments, stream);
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

TEST_F(GemmKernelTest, AFamilyWithADimensionThatDependsOnOthersServesItsDefaultType) {
  auto tuned = cublas::tuned_gemm({"8,16,4"});
  std::string& space = tuned.front().space;
  space.insert(space.find(R"({"name": "TYPE")"),
               R"({"name": "ALIGN", "default": "LDA % 4 == 0 ? 4 : 1"},)");
  database.add_all(tuned);
  open_gemm();
  EXPECT_EQ(use().end, KernelEnd::launched);
  EXPECT_EQ(use(nullptr, GemmType::bf16).end, KernelEnd::untuned);
}

TEST_F(GemmKernelTest, AfterAKernelEndedHalfwayNobodyComputesTheProductAgain) {
  auto tuned = cublas::tuned_gemm({"8,16,4"});
  std::string& space = tuned.front().space;
  const std::string entry =
      R"("entry": "plain<${A},${C},${compute},${TRANS_A},${TRANS_B},${ROWS}>",)";
  const std::string launch =
      R"j("launch": {"grid": ["ceil_div(M, ROWS)", 1, "BATCH"], "block": [1]})j";
  ASSERT_NE(space.find(entry), std::string::npos);
  ASSERT_NE(space.find(launch), std::string::npos);
  space.replace(space.find(launch), launch.size(),
                R"("steps": [{"entry": "scale", "launch": {"grid": [1], "block": [1]},
                              "arguments": ["beta", "C"]},
                             {"entry": "add<${ROWS}>", "launch": {"grid": [1], "block": [1]},
                              "arguments": ["alpha", "A", "B", "C"]}])");
  space.erase(space.find(entry), entry.size());
  tuned.front().source = R"(__global__ void scale(float, float*) {}
template <int kRows> __global__ void add(float, const float*, const float*, float*) {})";
  database.add_all(tuned);
  for (const bool is_prepared : {false, true}) {
    open_gemm();
    if (is_prepared) {
      EXPECT_EQ(use().end, KernelEnd::launched);
    }
    device->fails_to_launch = {"add<2>"};
    EXPECT_THAT([&] { use(); }, testing::ThrowsMessage<HalfwayError>(
                                    testing::HasSubstr("failed before its last launch")))
        << is_prepared;
  }
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
