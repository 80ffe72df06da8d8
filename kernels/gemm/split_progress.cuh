// SPDX-License-Identifier: Apache-2.0
// Split-K: how far the splits of a tile are, so that none waits for one that may not run.
#pragma once

/// Split i adds slice i of the partial sums if all splits have begun: they run, and store their
/// sums before they wait for those of others. Otherwise it leaves the slice to the last split to
/// arrive, which waits for no split that has not stored its sums. All by one thread of a split, in
/// this order: begin; begun and may_wait; arrive; is_last; the last, if are_left: take_left until
/// NONE.
///
/// `words`: COUNTERS + ceil(splits / 32), zero before and after: how many splits have begun, how
/// many have arrived and left a slice, and a bit for each slice that is left.
struct SplitProgress {
  static constexpr int COUNTERS = 2, NONE = -1;

  unsigned* words;
  int splits;  ///< fewer than 2^16
  int slices;  ///< at most as many as splits; splits from here on add none

  __device__ __forceinline__ void begin() const { atomicAdd(words, 1u); }

  __device__ __forceinline__ unsigned begun() const {
#ifndef TUNER_CPU_BACKEND
    unsigned count;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(words) : "memory");
    return count;
#else
    return 0;  // blocks run one after the other: nobody waits
#endif
  }
  /// Whether all splits have begun. `count`: from begun(); it is read again up to LOOKS times.
  __device__ __forceinline__ bool may_wait(unsigned count) const {
    for (int look = 0; look < LOOKS && count != static_cast<unsigned>(splits); ++look) {
      count = begun();
    }
    return count == static_cast<unsigned>(splits);
  }

  /// Counts the split as arrived; it leaves the slice `left`, or NONE. Returns what is_last and
  /// are_left need. Only slices that are left are ordered before it: a release would wait until the
  /// partial sums are stored, which takes as long as adding them.
  __device__ __forceinline__ unsigned arrive(int left) const {
    if (left == NONE) return atomicAdd(words + 1, 1u) + 1;
    atomicOr(words + COUNTERS + left / 32, 1u << left % 32);
    __threadfence();
    return atomicAdd(words + 1, LEFT + 1) + LEFT + 1;
  }
  __device__ __forceinline__ bool is_last(unsigned arrived) const {
    return arrived % LEFT == static_cast<unsigned>(splits);
  }
  /// Of the last split: whether slices are left. All have arrived, so the counts begin anew.
  __device__ __forceinline__ bool are_left(unsigned arrived) const {
    // Not a store: it would be lost if a begin() that nobody waited for were performed after it.
    atomicAdd(words, 0u - static_cast<unsigned>(splits));
    words[1] = 0;
    if (arrived < LEFT) return false;
    __threadfence();
    return true;
  }

  /// A slice that was left, or NONE.
  __device__ __forceinline__ int take_left() const {
    for (int first = 0; first < slices; first += 32) {
      volatile unsigned& word = words[COUNTERS + first / 32];
      const unsigned left = word;
      if (left == 0) continue;
      word = left & (left - 1);
      return first + __ffs(static_cast<int>(left)) - 1;
    }
    return NONE;
  }

 private:
  static constexpr unsigned LEFT = 1u << 16;  // a slice, in the count of arrivals

  // Each takes about 0.7 us, a round trip to the L2 cache. Splits that run at once begin together.
  static constexpr int LOOKS = 4;
};
