// SPDX-License-Identifier: Apache-2.0
// Split-K: which split adds which slice of a sum, so that no block relies on others to run.
#pragma once

/// Splits store partial sums, and when all have arrived, each of the first ones adds those of its
/// slice. One that waits in vain leaves its slice as an orphan. The last to arrive adds as many
/// slices as were orphans before; a split that finds that the last has arrived adds one itself.
/// All of one thread of a split.
///
/// `words`: COUNTERS + ceil(splits / ORPHANS), zero before and after. The first counts arrivals and
/// above them orphans, the second the slices that are begun; then each split has a bit.
struct SliceClaims {
  static constexpr int COUNTERS = 2, ORPHANS = 32, NONE = -1;

  unsigned* words;
  int splits;
  int slices;  ///< at most as many as splits: of the first of these

  /// Arrives, and returns the slice to add, or NONE. What a split wrote before can then be read.
  /// `left`: so many orphans are to be taken besides. Waits a while for the others if `waits`.
  __device__ __forceinline__ int claim(int split, bool waits, int& left) const {
    const unsigned all = static_cast<unsigned>(splits);
    const unsigned before = add_and_order(1);
    if (before % ORPHAN == all - 1) {
      left = static_cast<int>(before / ORPHAN);
      if (split < slices) return split;
      return left > 0 ? take_orphan(left) : NONE;
    }
    if (split >= slices) return NONE;
    if (waits && all_arrive()) return split;
    atomicOr(word_of(split), bit_of(split));
    if (add_and_order(ORPHAN) % ORPHAN != all) return NONE;
    // The last may have taken this slice in place of another orphan, which is then left.
    if (takes(split)) return split;
    int one = 1;
    return take_orphan(one);
  }

  /// A slice that is left as an orphan. There is one, but while this split looks others take some
  /// and leave others; NONE after so many looks that the counts must be wrong.
  __device__ __forceinline__ int take_orphan(int& left) const {
    --left;
    for (int look = 0; look < LOOKS; ++look) {
      for (int split = 0; split < slices; ++split) {
        if (takes(split)) return split;
      }
    }
    return NONE;
  }

  /// Begins a slice, and returns how many were begun before.
  __device__ __forceinline__ unsigned begin() const {
    return atomicInc(words + 1, static_cast<unsigned>(slices) - 1);
  }
  /// Ends a slice that was begun after so many others. When all are begun, nobody waits.
  __device__ __forceinline__ void end(unsigned begun_before) const {
    if (begun_before == static_cast<unsigned>(slices) - 1) words[0] = 0;
  }

 private:
  static constexpr unsigned ORPHAN = 1u << 16;
  // So often a split looks for what others do.
  static constexpr int LOOKS = 64;

  __device__ __forceinline__ unsigned* word_of(int split) const {
    return words + COUNTERS + split / ORPHANS;
  }
  static __device__ __forceinline__ unsigned bit_of(int split) { return 1u << split % ORPHANS; }
  __device__ __forceinline__ bool takes(int split) const {
    return (atomicAnd(word_of(split), ~bit_of(split)) & bit_of(split)) != 0;
  }

  /// Adds to the first word, and returns what it was. What a split wrote before can be read by
  /// those that add after it.
  __device__ __forceinline__ unsigned add_and_order(unsigned value) const {
#ifndef TUNER_CPU_BACKEND
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(words), "r"(value)
                 : "memory");
    return before;
#else
    return atomicAdd(words, value);
#endif
  }

  /// Whether all have arrived after some time. On the host, where blocks run one after the other,
  /// there is no use in waiting.
  __device__ __forceinline__ bool all_arrive() const {
#ifndef TUNER_CPU_BACKEND
    for (int look = 0; look < LOOKS; ++look) {
      unsigned value;
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(words) : "memory");
      if (value % ORPHAN == static_cast<unsigned>(splits)) {
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
        return true;
      }
    }
#endif
    return false;
  }
};
