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
#include <unordered_set>
#include <vector>

namespace tuner::worker {

/// What became of a compilation.
struct Compiled {
  Expected<backend::Binary, Failure> binary;
  double compile_ms = 0;
};

/// Compiles ahead on threads of its own, for callers on any threads. Jobs with equal keys are
/// compiled once; the most recent results are kept, so that one compilation serves every size and
/// the finals.
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
  /// True the first time that this is asked of the key of a job: who asks then counts what the
  /// compilation took.
  [[nodiscard]] bool count_once(const std::string& key);

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
  std::unordered_set<std::string> counted_;     // keys
  std::vector<std::jthread> threads_;
};

}  // namespace tuner::worker
