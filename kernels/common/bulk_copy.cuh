// SPDX-License-Identifier: Apache-2.0
// Copies of consecutive bytes from global to shared memory by the bulk copy unit (cp.async.bulk),
// with a version for the host. One thread starts a copy. Compute capability 9.0.
#pragma once

#include "common/async_barrier.cuh"

/// Starts the copy of `bytes` bytes, a multiple of 16, between addresses that are multiples of 16;
/// they arrive at `barrier`.
__device__ __forceinline__ void copy_bulk(unsigned to, const void* from, int bytes,
                                          unsigned barrier) {
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
#else
  if ((to | reinterpret_cast<unsigned long long>(from) | bytes) % 16 != 0) __trap();
  __builtin_memcpy(at_shared_address<unsigned char>(to), from, static_cast<unsigned>(bytes));
  auto* const at = at_shared_address<HostBarrier>(barrier);
  at->bytes -= bytes;
  at->complete_if_done();
#endif
}
