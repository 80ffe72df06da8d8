// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/dispatch/product_family.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/dispatch/dispatcher.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tuner::dispatch {

/// A database of results of the cpu backend, with options that open dispatchers there.
class CpuFixture : public testing::Test {
 protected:
  CpuFixture()
      : executor_(backend::open_executor("cpu", 0)),
        database(executor_->device(), executor_->environment()) {
    options.backend = "cpu";
    options.cache = folder.path() / "binaries";
  }

 private:
  std::unique_ptr<backend::Executor> executor_;

 protected:
  TemporaryDirectory folder;
  TunedDatabase database;
  DispatchOptions options;
};

}  // namespace tuner::dispatch
