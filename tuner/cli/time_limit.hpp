// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace tuner::cli {

/// Ends the program, with all that it started, when a time is up that may pass within a step that
/// cannot be stopped, such as a slow reference.
class TimeLimit {
 public:
  /// After `limit`, on a thread of its own: calls `last_words`, which may write to stdout, and ends
  /// the program with the exit code.
  TimeLimit(std::chrono::milliseconds limit, int exit_code, std::function<void()> last_words);
  /// From then on the program goes on. Does not return when the time is up.
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

 private:
  void watch(std::chrono::milliseconds limit, int exit_code,
             const std::function<void()>& last_words);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread watch_;
};

}  // namespace tuner::cli
