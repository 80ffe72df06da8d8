// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/slow_notice.hpp"

#include "tuner/cli/output.hpp"

#include <chrono>
#include <utility>

namespace tuner::cli {

SlowNotice::SlowNotice(std::string text)
    : thread_([this, text = std::move(text)] {
        constexpr std::chrono::seconds kSlow{2};
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, kSlow, [this] { return over_; })) tell(text + "\n");
      }) {}

SlowNotice::~SlowNotice() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace tuner::cli
