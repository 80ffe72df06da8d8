// SPDX-License-Identifier: Apache-2.0
#include "tuner/backend/cuda/stream_gate.hpp"

#include "tuner/backend/cuda/backend_kernels.hpp"
#include "tuner/core/error.hpp"

namespace tuner::backend {

StreamGate::StreamGate(const Compiler& compiler, cudaStream_t stream)
    : memory_(make_pinned_memory(sizeof(Flags))),
      kernel_(load_backend_kernel(compiler, "hold_stream")) {
  // Long enough for any enqueuing, and well below the deadline of a display's watchdog or of ours.
  constexpr std::int64_t kLongest_ns = 5'000'000'000;
  auto hold = kernel_.functions().front().launch(
      {}, {packed(&flags()->released), packed(&flags()->expired), packed(kLongest_ns)}, stream);
  if (!hold) throw Error(ErrorCode::failure, "cannot block a stream:  " + hold.error().message);
  hold_ = std::move(*hold);
}

Expected<void, Failure> StreamGate::close() {
  flags()->released = 0;
  flags()->expired = 0;
  return hold_();
}

void StreamGate::open() {
  flags()->released = 1;
}

bool StreamGate::expired() const {
  return flags()->expired != 0;
}

}  // namespace tuner::backend
