// SPDX-License-Identifier: Apache-2.0
// Barriers in shared memory that count arrivals and bytes (mbarrier), given by their addresses,
// with a version for the host. Compute capability 9.0.
#pragma once

#include "common/shared_memory.cuh"

#ifdef TUNER_CPU_BACKEND
/// The 64 bits of a barrier on the host.
struct HostBarrier {
  unsigned short count;    ///< arrivals of a phase
  unsigned short pending;  ///< of the current one
  int bytes : 31;          ///< expected less those that have arrived
  unsigned parity : 1;     ///< of the current phase

  void complete_if_done() {
    if (pending != 0 || bytes != 0) return;
    pending = count;
    parity ^= 1u;
  }
};

/// What a host thread waits for.
struct AwaitedPhase {
  const HostBarrier* barrier;
  unsigned parity;

  static bool is_complete(const void* awaited) {
    const auto* const phase = static_cast<const AwaitedPhase*>(awaited);
    return phase->barrier->parity != phase->parity;
  }
};
#endif

/// Initializes a barrier. A phase completes after `count` arrivals and all expected bytes.
__device__ __forceinline__ void init_barrier(unsigned barrier, int count) {
#ifndef TUNER_CPU_BACKEND
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
#else
  const auto arrivals = static_cast<unsigned short>(count);
  *at_shared_address<HostBarrier>(barrier) = {arrivals, arrivals, 0, 0};
#endif
}

/// Makes the barriers that this thread initialized visible to the TMA unit and to the cluster.
__device__ __forceinline__ void publish_barriers() {
#ifndef TUNER_CPU_BACKEND
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

__device__ __forceinline__ void arrive(unsigned barrier) {
#ifndef TUNER_CPU_BACKEND
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
#else
  auto* const at = at_shared_address<HostBarrier>(barrier);
  --at->pending;
  at->complete_if_done();
  tuner::pause();  // whoever waits for the phase may go on first
#endif
}

/// Arrives, and adds to the bytes that the phase expects.
__device__ __forceinline__ void arrive_expecting(unsigned barrier, int bytes) {
#ifndef TUNER_CPU_BACKEND
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
#else
  auto* const at = at_shared_address<HostBarrier>(barrier);
  at->bytes += bytes;
  --at->pending;
  at->complete_if_done();
#endif
}

/// Waits until the phase with this parity has completed. On a new barrier a wait for parity 1
/// passes.
__device__ __forceinline__ void await_phase(unsigned barrier, unsigned parity) {
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared.b64 complete, [%0], %1;\n"
      "@!complete bra again;\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
#else
  const AwaitedPhase phase{at_shared_address<HostBarrier>(barrier), parity};
  tuner::context->await(*tuner::context, AwaitedPhase::is_complete, &phase);
#endif
}
