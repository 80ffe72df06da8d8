// SPDX-License-Identifier: Apache-2.0
#include "tuner/dispatch/forks.hpp"

#include <mutex>
#include <pthread.h>
#include <system_error>

namespace tuner::dispatch {

std::atomic<std::uint32_t> Forks::count_ = 0;

std::uint32_t Forks::count() {
  static std::once_flag watched;
  std::call_once(watched, [] {
    const int error =
        ::pthread_atfork(nullptr, nullptr, [] { count_.fetch_add(1, std::memory_order_relaxed); });
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread_atfork");
  });
  return known_count();
}

}  // namespace tuner::dispatch
