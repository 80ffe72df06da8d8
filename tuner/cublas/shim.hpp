// SPDX-License-Identifier: Apache-2.0
// What happens between a program and cuBLAS.
#pragma once

#include "tuner/backend/application.hpp"
#include "tuner/cublas/original.hpp"
#include "tuner/cublas/product.hpp"
#include "tuner/cublas/settings.hpp"

namespace tuner::cublas {

/// While one lives, calls of its thread are cuBLAS's own or this library's: they are not the
/// program's, and go to cuBLAS.
class Inside {
 public:
  Inside() : is_outermost_(depth_++ == 0) {}
  ~Inside() { --depth_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] bool is_outermost() const { return is_outermost_; }

 private:
  static inline thread_local constinit int depth_ = 0;
  bool is_outermost_;
};

/// Serves the call by a tuned kernel. Nothing where cuBLAS must do it; then nothing was enqueued.
/// CUBLAS_STATUS_EXECUTION_FAILED where a kernel failed behind the first of its launches.
[[nodiscard]] std::optional<cublasStatus_t> serve(ProductCall&& call) noexcept;

/// Notes a call that cuBLAS is about to do, and when it is done.
class RecordedCall {
 public:
  explicit RecordedCall(ProductCall&& call) noexcept;
  ~RecordedCall();
  RecordedCall(const RecordedCall&) = delete;
  RecordedCall& operator=(const RecordedCall&) = delete;

 private:
  backend::StreamHandle stream_ = nullptr;
  std::optional<backend::StreamMark> mark_;
};

/// A handle was made, or is about to be destroyed, by the program.
void note_created(const void* handle) noexcept;
void note_destroyed(const void* handle) noexcept;

/// A call of the program, with cuBLAS's own function and the program's own arguments.
template <class Function, class Describe, class... Arguments>
cublasStatus_t call(const Original<Function>& function, const Describe& describe,
                    Arguments... arguments) {
  const Inside inside;
  const Mode mode = settings().mode;
  if (!inside.is_outermost() || mode == Mode::off) return function(arguments...);
  if (mode == Mode::record) {
    const RecordedCall recorded(describe(Detail::all));
    return function(arguments...);
  }
  if (const auto status = serve(describe(Detail::decision))) return *status;
  return function(arguments...);
}

}  // namespace tuner::cublas
