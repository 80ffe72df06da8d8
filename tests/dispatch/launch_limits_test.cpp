// SPDX-License-Identifier: Apache-2.0
// Numbers that a kernel cannot take: an answer that cannot be launched is none.
#include "tests/dispatch/engine_fixture.hpp"

namespace tuner::dispatch {
namespace {

using testing::HasSubstr;

class LaunchLimitsTest : public EngineTest {
 protected:
  /// A family of lines whose kernel takes what `arguments` lists.
  void open_lines(const std::string& arguments) {
    database.add({.size = "8",
                  .kernel = "line",
                  .config = R"({"BLOCK":4})",
                  .family = "lines",
                  .space = R"json({
      "format": "space/1", "family": "lines",
      "problem": {"dims": ["N"], "flops": "N", "bytes": "8*N"},
      "arguments": [ {"name": "square", "type": "int", "value": "N*N"},
                     {"name": "x", "type": "float*", "count": "N", "role": "output"} ],
      "check": {"reference": {"kernel": "line"}},
      "kernels": {"line": {"source": "product.cu", "entry": "line", "arguments": )json" +
                           arguments + R"json(,
        "parameters": {"BLOCK": {"values": [2, 4], "default": 2, "kind": "launch"}},
        "launch": {"grid": ["ceil_div(N, BLOCK)"], "block": ["BLOCK"]}}} })json",
                  .source = "__global__ void line(float* x, ...) {}"});
    auto executor = std::make_unique<FakeExecutor>();
    device = executor.get();
    DispatchOptions options;
    options.cache = cache.path() / "binaries";
    engine = std::make_unique<Engine>(std::move(executor), Table::database(database.path()),
                                      options, settings);
    family = engine->family("lines");
  }
  void launch_line(std::int64_t n) {
    const std::array<DispatchArgument, 1> arguments = {data};
    engine->launch(family, space::Size{n}, arguments, nullptr);
  }
};

TEST_F(LaunchLimitsTest, WhatNoConfigurationCanLaunchHasNoAnswer) {
  open_lines(R"(["x", "square"])");
  launch_line(40'000);
  EXPECT_EQ(engine->answer(family, space::Size{40'000}).rung, Rung::nearest);
  EXPECT_THAT([&] { static_cast<void>(engine->answer(family, space::Size{50'000})); },
              testing::ThrowsMessage<DispatchError>(HasSubstr("argument 'square' = N*N")));
  EXPECT_THAT([&] { launch_line(50'000); },
              testing::ThrowsMessage<DispatchError>(HasSubstr("argument 'square' = N*N")));
}

TEST_F(LaunchLimitsTest, ANumberThatTheKernelDoesNotTakeMayHaveNoValue) {
  open_lines(R"(["x"])");
  EXPECT_EQ(engine->answer(family, space::Size{50'000}).rung, Rung::nearest);
  launch_line(50'000);
  EXPECT_EQ(device->launches, 1);
}

}  // namespace
}  // namespace tuner::dispatch
