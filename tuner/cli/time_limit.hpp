// SPDX-License-Identifier: Apache-2.0
// What happens when something takes longer than expected.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace tuner::cli {

/// Calls a function, on a thread of its own, once a time is up, unless it is destroyed before. The
/// destructor waits for a call that has begun.
class Alarm {
 public:
  Alarm(std::chrono::milliseconds time, std::function<void()> call);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;  // last: it uses the others
};

/// Says on stderr what is under way once it has taken 2 s, unless it goes before.
class SlowNotice {
 public:
  explicit SlowNotice(const std::string& text);

 private:
  Alarm alarm_;
};

/// Ends the program, with all that it started, when a time is up that may pass within a step that
/// cannot be stopped, such as a slow reference.
class TimeLimit {
 public:
  /// After `limit`, on a thread of its own: calls `last_words`, which may write to stdout, and ends
  /// the program with the exit code. The destructor does not return once the time is up.
  TimeLimit(std::chrono::milliseconds limit, int exit_code, std::function<void()> last_words);

 private:
  Alarm alarm_;
};

}  // namespace tuner::cli
