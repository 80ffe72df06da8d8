// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublas/shim.hpp"

#include "tuner/cublas/call_log.hpp"
#include "tuner/cublas/recorder.hpp"
#include "tuner/cublas/server.hpp"
#include "tuner/dispatch/gemm_kernel.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <string>

namespace tuner::cublas {
namespace {

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
      auto* const made = new Place;
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

/// The handle's state, where the call has none of its own.
std::optional<PassReason> complete(ProductCall& call) {
  if (call.stream) return std::nullopt;
  const HandleState state = handle_state(static_cast<cublasHandle_t>(call.handle));
  call.stream = state.stream;
  return state.objection;
}

void at_exit() {
  if (settings().mode == Mode::record) {
    if (Recorder* const recorder = PerProcess<Recorder>::get()) recorder->write();
    return;
  }
  try {
    const std::string text = call_counts().text();
    if (!text.empty()) write_line(text);
  } catch (...) {  // no memory for it
  }
}

/// Registered at the first call, when cuBLAS is there: so it comes before CUDA's own.
void register_exit() {
  static const int registered = std::atexit(&at_exit);
  static const int forked = ::pthread_atfork(nullptr, nullptr, [] { call_counts().reset(); });
  static_cast<void>(registered);
  static_cast<void>(forked);
}

/// Why cuBLAS must do it; none where a kernel did.
std::optional<PassReason> try_to_serve(ProductCall& call) {
  if (const auto reason = objection(call)) return reason;
  if (settings().reduced_precision) return PassReason::environment;
  if (const auto reason = complete(call)) return reason;
  Server* const server = PerProcess<Server>::get();
  return server == nullptr ? PassReason::failed : server->take(call);
}

}  // namespace

std::optional<cublasStatus_t> serve(ProductCall&& call) noexcept {
  register_exit();
  PassReason reason = PassReason::failed;
  try {
    const auto objection = try_to_serve(call);
    if (!objection) return CUBLAS_STATUS_SUCCESS;
    reason = *objection;
  } catch (const dispatch::HalfwayError& error) {
    write_line_once(error.what());
    return CUBLAS_STATUS_EXECUTION_FAILED;
  } catch (const std::exception& error) {
    write_line_once(error.what());
  } catch (...) {
    write_line_once("a call failed and was passed to cuBLAS");
  }
  call_counts().add_passed(reason);
  return std::nullopt;
}

RecordedCall::RecordedCall(ProductCall&& call) noexcept {
  register_exit();
  try {
    auto reason = objection(call);
    const auto of_handle = complete(call);
    if (!reason) reason = of_handle;
    stream_ = call.stream.value_or(nullptr);
    if (Recorder* const recorder = PerProcess<Recorder>::get()) {
      mark_ = recorder->begin(call, stream_, reason);
    }
  } catch (...) {  // it is not counted
  }
}

RecordedCall::~RecordedCall() {
  if (!mark_) return;
  try {
    PerProcess<Recorder>::get()->end(*mark_, stream_);
  } catch (...) {  // nor timed
  }
}

void note_created(const void* handle) noexcept {
  if (settings().mode != Mode::serve) return;
  try {
    if (Server* const server = PerProcess<Server>::get()) server->note_created(handle);
  } catch (...) {  // its calls go to cuBLAS where there are several devices
  }
}

void note_destroyed(const void* handle) noexcept {
  if (settings().mode != Mode::serve) return;
  try {
    if (Server* const server = PerProcess<Server>::get()) server->note_destroyed(handle);
  } catch (...) {  // likewise
  }
}

}  // namespace tuner::cublas
