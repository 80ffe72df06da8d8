// SPDX-License-Identifier: Apache-2.0
// What tests in a program with libtuner_cublas.so preloaded have in common.
#pragma once

#include "tests/cublas/gemm_family.hpp"
#include "tuner/backend/executor.hpp"
#include "tuner/core/file.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tuner::cublas {

/// A database of the cpu backend, and an environment in which libtuner_cublas.so uses it. Each test
/// needs a process of its own, as CTest gives it: the library reads the environment once.
class Preloaded : public testing::Test {
 protected:
  Preloaded()
      : executor_(backend::open_executor("cpu", 0)),
        database(executor_->device(), executor_->environment()) {
    ::setenv("TUNER_CUBLAS_BACKEND", "cpu", 1);
    ::setenv("TUNER_DB", database.path().c_str(), 1);
    ::setenv("TUNER_CUBLAS_LOG", log_file().c_str(), 1);
  }

  void tune(const std::vector<std::string>& sizes, double ratio_to_library = 2,
            const std::string& family = "gemm") {
    database.add_all(tuned_gemm(sizes, ratio_to_library, family));
  }

  [[nodiscard]] std::filesystem::path log_file() const { return folder.path() / "log"; }
  [[nodiscard]] std::string log() const {
    return std::filesystem::exists(log_file()) ? read_file(log_file(), 1 << 20) : "";
  }
  /// What a process of its own, forked from here, leaves in the log; `work` returns its exit code.
  [[nodiscard]] std::string log_of(const std::function<int()>& work) {
    std::filesystem::remove(log_file());
    const pid_t child = ::fork();
    if (child == 0) std::exit(work());
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    return log();
  }

 private:
  std::unique_ptr<backend::Executor> executor_;

 protected:
  TemporaryDirectory folder;
  dispatch::TunedDatabase database;
};

}  // namespace tuner::cublas
