// SPDX-License-Identifier: Apache-2.0
// A thread's own copies of vectors from global to shared memory (cp.async), with a version for the
// host. Compute capability 8.0. AsyncCopies (async_copy.cuh) has one size and other caches; it
// stays as it is because results are bound to the code of the kernels that use it.
#pragma once

#include "common/shared_memory.cuh"

/// The copies that a thread has begun, in groups.
class VectorCopies {
 public:
  /// Begins to copy the first `bytes` bytes of SIZE, 4, 8 or 16, to a shared memory address; the
  /// others become zero. Where `bytes` is 0 nothing is read. Both sides are aligned to SIZE. SIZE
  /// of 1 or 2 is copied at once: cp.async has no such sizes.
  template <int SIZE>
  __device__ __forceinline__ void copy(unsigned to, const void* from, int bytes) {
    static_assert(SIZE == 1 || SIZE == 2 || SIZE == 4 || SIZE == 8 || SIZE == 16);
    if constexpr (SIZE < 4) {
      copy_now<SIZE>(to, from, bytes);
    } else {
#ifndef TUNER_CPU_BACKEND
      if constexpr (SIZE == 16) {
        asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                     "r"(bytes)
                     : "memory");
      } else {
        asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %3, %2;" ::"r"(to), "l"(from),
                     "r"(bytes), "n"(SIZE)
                     : "memory");
      }
#else
      if (count_ == MOST || to % SIZE != 0) __trap();
      if (bytes > 0 && reinterpret_cast<unsigned long long>(from) % SIZE != 0) __trap();
      begun_[count_++] = {to, SIZE, bytes, group_, from};
      __builtin_memset(at_shared_address<unsigned char>(to), 0xff, SIZE);  // a GPU may write by now
#endif
    }
  }

  /// Makes a group of the copies begun since the last one; it may have none.
  __device__ __forceinline__ void commit() {
#ifndef TUNER_CPU_BACKEND
    asm volatile("cp.async.commit_group;" ::: "memory");
#else
    ++group_;
#endif
  }

  /// Waits until at most PENDING groups are not complete. The host copies only here: as late as a
  /// GPU may.
  template <int PENDING>
  __device__ __forceinline__ void await() {
#ifndef TUNER_CPU_BACKEND
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#else
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Copy& copy = begun_[i];
      if (copy.group < group_ - PENDING) {
        auto* const to = at_shared_address<unsigned char>(copy.to);
        __builtin_memset(to, 0, static_cast<unsigned>(copy.size));
        __builtin_memcpy(to, copy.from, static_cast<unsigned>(copy.bytes));
      } else {
        begun_[kept++] = copy;
      }
    }
    count_ = kept;
#endif
  }

 private:
  template <int SIZE>
  static __device__ __forceinline__ void copy_now(unsigned to, const void* from, int bytes) {
    unsigned short bits = 0;
    if (bytes > 0) {
      bits = SIZE == 2 ? *static_cast<const unsigned short*>(from)
                       : *static_cast<const unsigned char*>(from);
    }
#ifndef TUNER_CPU_BACKEND
    if constexpr (SIZE == 2) {
      asm volatile("st.shared.u16 [%0], %1;" ::"r"(to), "h"(bits) : "memory");
    } else {
      asm volatile("st.shared.u8 [%0], %1;" ::"r"(to), "h"(bits) : "memory");
    }
#else
    __builtin_memcpy(at_shared_address<unsigned char>(to), &bits, SIZE);
#endif
  }

#ifdef TUNER_CPU_BACKEND
  struct Copy {
    unsigned to;
    int size, bytes, group;
    const void* from;
  };
  static constexpr int MOST = 1024;
  Copy begun_[MOST];
  int count_ = 0;
  int group_ = 0;  // committed ones
#endif
};
