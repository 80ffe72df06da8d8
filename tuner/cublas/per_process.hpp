// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/cublas/call_log.hpp"

#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <pthread.h>

namespace tuner::cublas {

/// The one object of a type that a process has, made when it is first needed and never destroyed: a
/// program may call cuBLAS until its very end. A process that was forked has one of its own; what
/// the fork left behind is not touched, since threads that no longer exist may hold its locks.
template <class Object>
class PerProcess {
 public:
  /// Null where it cannot be made, which is said once.
  [[nodiscard]] static Object* get() noexcept {
    if (Object* const known = place().object.load(std::memory_order_acquire)) return known;
    return make(place());
  }

 private:
  struct Place {
    std::mutex mutex;
    std::atomic<Object*> object = nullptr;
    std::atomic<bool> failed = false;
  };

  static Place& place() {
    Place* known = place_.load(std::memory_order_acquire);
    if (known == nullptr) {
      Place* const made = new Place;
      if (place_.compare_exchange_strong(known, made)) return *made;
      delete made;
    }
    return *known;
  }

  static Object* make(Place& place) noexcept {
    if (place.failed.load(std::memory_order_relaxed)) return nullptr;
    try {
      const std::scoped_lock lock(place.mutex);
      if (place.object == nullptr && !place.failed) {
        static const int watched = ::pthread_atfork(nullptr, nullptr, [] { place_ = nullptr; });
        if (watched == 0) place.object = new Object;
      }
    } catch (const std::exception& error) {
      place.failed = true;
      write_line_once(fmt::format("all calls are passed to cuBLAS: {}", error.what()));
    } catch (...) {
      place.failed = true;
    }
    return place.object.load(std::memory_order_acquire);
  }

  static inline constinit std::atomic<Place*> place_ = nullptr;
};

}  // namespace tuner::cublas
