// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/time_limit.hpp"

#include "tuner/core/process.hpp"

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace tuner::cli {

TimeLimit::TimeLimit(std::chrono::milliseconds limit, int exit_code,
                     std::function<void()> last_words)
    : watch_([this, limit, exit_code, words = std::move(last_words)] {
        watch(limit, exit_code, words);
      }) {}

TimeLimit::~TimeLimit() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  watch_.join();
}

void TimeLimit::watch(std::chrono::milliseconds limit, int exit_code,
                      const std::function<void()>& last_words) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, limit, [this] { return is_over_; })) return;
  // The lock is kept to the end, so that the destructor of this cannot return.
  kill_children();
  try {
    last_words();
    std::fflush(stdout);
  } catch (...) {
    // Whoever reads the result has gone.
  }
  ::_exit(exit_code);
}

}  // namespace tuner::cli
