// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/backend/backend.hpp"

#include <condition_variable>
#include <deque>
#include <future>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace tuner::worker {

/// What became of a compilation.
struct Compiled {
  Expected<backend::Binary, Failure> binary;
  double compile_ms = 0;
};

/// Compiles ahead on threads of its own. Jobs with equal keys are compiled once; the most recent
/// results are kept, so that one compilation serves every size and the finals.
class CompilePool {
 public:
  /// The compiler must outlive the pool.
  CompilePool(const backend::Compiler& compiler, int threads);
  /// Waits for compilations under way; those not begun are dropped.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// The result, when it is there. First submitted, first compiled.
  [[nodiscard]] std::shared_future<Compiled> submit(family::CompileJob job);

 private:
  struct Task {
    family::CompileJob job;
    std::promise<Compiled> promise;
  };
  struct Kept {
    std::shared_future<Compiled> result;
    std::list<std::string>::iterator recency;
  };
  void work(const std::stop_token& stop);

  const backend::Compiler& compiler_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Task> tasks_;
  std::unordered_map<std::string, Kept> kept_;  // by key
  std::list<std::string> recency_;              // keys, most recent first
  std::vector<std::jthread> threads_;
};

}  // namespace tuner::worker
