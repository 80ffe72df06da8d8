// SPDX-License-Identifier: Apache-2.0
// Split-K: how far the splits of a tile are, so that none waits for one that may not run.
#pragma once

/// Split i adds slice i of the partial sums if all splits have begun: they run, and store their
/// sums before they wait for those of others. Otherwise it leaves the slice to the last split to
/// arrive, which finds all sums stored. All by one thread of a split, in this order: begin; begun
/// and may_wait; leave, if it has a slice and may not wait; arrive; the last: take_left until NONE.
///
/// `words`: COUNTERS + ceil(splits / 32), zero before and after: how many splits have begun, how
/// many have arrived, and a bit for each slice that is left.
struct SplitProgress {
  static constexpr int COUNTERS = 2, NONE = -1;

  unsigned* words;
  int splits;
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

  __device__ __forceinline__ void leave(int slice) const {
    atomicOr(words + COUNTERS + slice / 32, 1u << slice % 32);
  }

  /// Whether this split is the last. It can then read what others wrote before they arrived.
  __device__ __forceinline__ bool arrive() const {
    unsigned before;
#ifndef TUNER_CPU_BACKEND
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;"
                 : "=r"(before)
                 : "l"(words + 1)
                 : "memory");
#else
    before = atomicAdd(words + 1, 1u);
#endif
    if (before != static_cast<unsigned>(splits) - 1) return false;
    words[0] = 0;
    words[1] = 0;
    return true;
  }

  /// A slice that was left, or NONE.
  __device__ __forceinline__ int take_left() const {
    for (int first = 0; first < slices; first += 32) {
      unsigned& word = words[COUNTERS + first / 32];
      const unsigned left = word;
      if (left == 0) continue;
      word = left & (left - 1);
      return first + __ffs(static_cast<int>(left)) - 1;
    }
    return NONE;
  }

 private:
  // Each takes about 0.7 us, a round trip to the L2 cache. Splits that run at once begin together.
  static constexpr int LOOKS = 4;
};
