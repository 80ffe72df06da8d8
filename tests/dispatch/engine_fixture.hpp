// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/dispatch/fake_executor.hpp"
#include "tests/dispatch/product_family.hpp"
#include "tuner/dispatch/engine.hpp"

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tuner::dispatch {

/// An engine on a fake device, and a launch of its family.
class EngineTest : public testing::Test {
 protected:
  EngineTest() : database(FakeExecutor().device(), FakeExecutor().environment()) {}

  void open(StalePolicy stale = StalePolicy::use) {
    auto executor = std::make_unique<FakeExecutor>();
    device = executor.get();
    DispatchOptions options;
    options.stale = stale;
    options.cache = cache.path() / "binaries";
    engine = std::make_unique<Engine>(std::move(executor), Table::database(database.path()),
                                      options, settings);
    family = engine->family("product");
  }

  void launch(const space::Size& size, backend::StreamHandle stream = nullptr, float* a = nullptr) {
    const std::array<DispatchArgument, 5> arguments = {2.0F, a == nullptr ? data : a, data, 1.0F,
                                                       data};
    engine->launch(family, size, arguments, stream);
  }
  /// What was launched.
  std::string launched(const space::Size& size, backend::StreamHandle stream = nullptr,
                       float* a = nullptr) {
    device->last = {};
    launch(size, stream, a);
    return std::string(device->last.entry);
  }
  [[nodiscard]] std::string error_of(const space::Size& size,
                                     backend::StreamHandle stream = nullptr) {
    try {
      launch(size, stream);
      return "no error";
    } catch (const DispatchError& error) {
      return error.what();
    }
  }

  alignas(16) float data[64] = {};
  TemporaryDirectory cache;
  TunedDatabase database;
  DispatchSettings settings{.log = LogLevel::off};
  FakeExecutor* device = nullptr;
  std::unique_ptr<Engine> engine;
  FamilyId family{};
};

}  // namespace tuner::dispatch
