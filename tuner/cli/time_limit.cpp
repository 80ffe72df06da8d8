// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/time_limit.hpp"

#include "tuner/cli/output.hpp"
#include "tuner/core/process.hpp"

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace tuner::cli {

Alarm::Alarm(std::chrono::milliseconds time, std::function<void()> call)
    : thread_([this, time, call = std::move(call)] {
        std::unique_lock lock(mutex_);
        // The lock is kept meanwhile, so that the destructor waits.
        if (!changed_.wait_for(lock, time, [this] { return is_over_; })) call();
      }) {}

Alarm::~Alarm() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

SlowNotice::SlowNotice(const std::string& text)
    : alarm_(std::chrono::seconds(2), [text] { tell(text + "\n"); }) {}

TimeLimit::TimeLimit(std::chrono::milliseconds limit, int exit_code,
                     std::function<void()> last_words)
    : alarm_(limit, [exit_code, words = std::move(last_words)] {
        kill_children();
        try {
          words();
          std::fflush(stdout);
        } catch (...) {
          // Whoever reads the result has gone.
        }
        ::_exit(exit_code);
      }) {}

}  // namespace tuner::cli
