// SPDX-License-Identifier: Apache-2.0
// A thread's own copies from global to shared memory (cp.async), with a version for the host.
// Compute capability 8.0.
#pragma once

/// The caches that keep a copy.
enum class CopyCache {
  l2_by_256,  ///< in L2, which fetches the 256 bytes around it: rows that are read once
  l1,         ///< in L1, too: other warps are about to read the same
};

/// The copies that a thread has begun, in groups.
class AsyncCopies {
 public:
  /// Begins to copy the first `bytes` bytes of 16; the others become zero. Where `bytes` is 0
  /// nothing is read.
  template <CopyCache CACHE>
  __device__ __forceinline__ void copy(void* to, const void* from, int bytes) {
#ifndef TUNER_CPU_BACKEND
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    if constexpr (CACHE == CopyCache::l1) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                   "r"(bytes)
                   : "memory");
    } else {
      asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16, %2;" ::"r"(address),
                   "l"(from), "r"(bytes)
                   : "memory");
    }
#else
    if (count_ == MOST) __trap();
    begun_[count_++] = {to, from, bytes, group_};
    __builtin_memset(to, 0xff, 16);  // not numbers: a GPU may write from now on
#endif
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
        __builtin_memset(copy.to, 0, 16);
        __builtin_memcpy(copy.to, copy.from, static_cast<unsigned>(copy.bytes));
      } else {
        begun_[kept++] = copy;
      }
    }
    count_ = kept;
#endif
  }

#ifdef TUNER_CPU_BACKEND
 private:
  struct Copy {
    void* to;
    const void* from;
    int bytes, group;
  };
  static constexpr int MOST = 512;
  Copy begun_[MOST];
  int count_ = 0;
  int group_ = 0;  // committed ones
#endif
};
