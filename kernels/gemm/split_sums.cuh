// SPDX-License-Identifier: Apache-2.0
// Split-K and stream-K: adds the partial sums of the splits of a tile, through global memory.
#pragma once

#include "common/vector.cuh"
#include "split_progress.cuh"

/// WIDTH sums as they are stored. Zero bits in memory mean that a sum has not been stored yet, so
/// zero is stored as the sign bit: a float as minus zero. An int8 sum of -2^31 would count as zero;
/// fewer than 132,105 products do not reach it, and the space file limits K.
template <class S, int WIDTH>
struct StoredSums {
  static_assert(sizeof(S) == 4);
  static constexpr unsigned ZERO = 1u << 31;
  static constexpr bool IS_INTEGER = S(1) / S(2) == S(0);

  Vector<unsigned, WIDTH> words;

  static __device__ __forceinline__ StoredSums of(const S* sums) {
    StoredSums stored;
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      union {
        S sum;
        unsigned word;
      } bits = {sums[i]};
      stored.words.at[i] = bits.word == 0 ? ZERO : bits.word;
    }
    return stored;
  }
  __device__ __forceinline__ bool is_complete() const {
    bool complete = true;
#pragma unroll
    for (unsigned word : words.at) complete = complete && word != 0;
    return complete;
  }
  __device__ __forceinline__ void add_to(S (&total)[WIDTH]) const {
#pragma unroll
    for (int i = 0; i < WIDTH; ++i) {
      union {
        unsigned word;
        S sum;
      } bits = {IS_INTEGER && words.at[i] == ZERO ? 0 : words.at[i]};
      total[i] += bits.sum;
    }
  }

  // Other blocks access the same words meanwhile: each word is the old or the new one, those of a
  // vector independently.
  static __device__ __forceinline__ StoredSums load(const StoredSums* from) {
#ifndef TUNER_CPU_BACKEND
    StoredSums loaded;
    auto& word = loaded.words.at;
    if constexpr (WIDTH == 4) {
      asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                   : "l"(from)
                   : "memory");
    } else if constexpr (WIDTH == 2) {
      asm volatile("ld.relaxed.gpu.global.v2.u32 {%0, %1}, [%2];"
                   : "=r"(word[0]), "=r"(word[1])
                   : "l"(from)
                   : "memory");
    } else {
      static_assert(WIDTH == 1);
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word[0]) : "l"(from) : "memory");
    }
    return loaded;
#else
    return *from;
#endif
  }
  __device__ __forceinline__ void store(StoredSums* to) const {
#ifndef TUNER_CPU_BACKEND
    const auto& word = words.at;
    if constexpr (WIDTH == 4) {
      asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word[0]),
                   "r"(word[1]), "r"(word[2]), "r"(word[3])
                   : "memory");
    } else if constexpr (WIDTH == 2) {
      asm volatile("st.relaxed.gpu.global.v2.u32 [%0], {%1, %2};" ::"l"(to), "r"(word[0]),
                   "r"(word[1])
                   : "memory");
    } else {
      static_assert(WIDTH == 1);
      asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word[0]) : "memory");
    }
#else
    *to = *this;
#endif
  }
};

/// Adds the sums that THREADS threads, a block or a warpgroup of it, have of a tile or of a part
/// of one: COUNT times WIDTH each. Every split stores its own; then slices of them are added, each
/// in the order of the splits: equal inputs give equal bits. Whoever adds a slice waits for each
/// sum itself, not for a signal that comes after it.
template <class S, int WIDTH, int COUNT, int THREADS>
struct SplitSums {
  static constexpr int SIZE = WIDTH * COUNT * THREADS;  ///< sums of a split

  S* partials;          ///< in slot 0; zero before and after a launch
  long long slot_size;  ///< from slot to slot
  SplitProgress progress;
  unsigned* flags;  ///< two words of shared memory

  static __device__ __forceinline__ int slices(int splits) {
    return UNITS < splits ? UNITS : splits;
  }

  /// Says that a split has begun, long before its sums are there. All threads call it.
  __device__ __forceinline__ void begin() const {
    if (is_leader()) progress.begin();
  }
  /// What reduce needs to know of the others, from shortly before the sums are there: it takes a
  /// round trip to the L2 cache. All threads call it.
  __device__ __forceinline__ unsigned begun() const { return is_leader() ? progress.begun() : 0; }

  /// Adds up. begun: from begun(); sums_at(i): the i-th WIDTH of this thread's sums; slot(split):
  /// the number of its slot; sync(): a barrier of the threads. Waits for others if `waits`: worth
  /// it where the block has nothing else to do. Calls finish(totals, first) with consecutive
  /// totals, in the order of storage: sum j of sums_at(i) of a thread is number (i * THREADS +
  /// thread) * WIDTH + j. All threads call it.
  template <class SumsAt, class Slot, class Sync, class Finish>
  __device__ __forceinline__ void reduce(int split, bool waits, unsigned begun,
                                         const SumsAt& sums_at, const Slot& slot, const Sync& sync,
                                         const Finish& finish) const {
    const bool leads = is_leader();
    auto* const own = at<WIDTH>(slot(split), threadIdx.x % THREADS * WIDTH);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      StoredSums<S, WIDTH>::of(sums_at(i)).store(own + i * THREADS);
    }
    const bool has_slice = split < progress.slices;
    if (leads) flags[0] = has_slice && waits && progress.may_wait(begun) ? 1 : 0;
    sync();
    int slice = flags[0] != 0 ? split : SplitProgress::NONE;
    unsigned arrived = 0;  // known when it is needed, after the first slice
    if (leads) arrived = progress.arrive(has_slice && flags[0] == 0 ? split : SplitProgress::NONE);
    for (bool is_first = true;; is_first = false) {
      if (slice != SplitProgress::NONE) {
        // With more splits a slice is smaller: fewer sums at a time occupy more threads.
        if (WIDTH == 4 && progress.splits <= 4) {
          add<WIDTH, 4>(slice, slot, finish);
        } else if (WIDTH == 4 && progress.splits <= 8) {
          add<WIDTH, 8>(slice, slot, finish);
        } else {
          add<(WIDTH < 2 ? WIDTH : 2), 16>(slice, slot, finish);
        }
      }
      if (leads && is_first) {
        flags[1] = progress.is_last(arrived) && progress.are_left(arrived) ? 1 : 0;
      }
      sync();
      if (flags[1] == 0) return;
      if (leads) flags[0] = static_cast<unsigned>(progress.take_left());
      sync();
      slice = static_cast<int>(flags[0]);
      if (slice == SplitProgress::NONE) break;
    }
    sync();  // all have read it before the leader writes for another tile
  }

 private:
  static constexpr int UNITS = SIZE / (32 * WIDTH);  // of slices

  static __device__ __forceinline__ bool is_leader() {
    return threadIdx.x % THREADS == THREADS - 32;  // of the warp that adds least
  }
  template <int N>
  __device__ __forceinline__ StoredSums<S, N>* at(int slot, int number) const {
    return reinterpret_cast<StoredSums<S, N>*>(partials + slot * slot_size + number);
  }

  /// N sums of IN_FLIGHT splits at a time.
  template <int N, int IN_FLIGHT, class Slot, class Finish>
  __device__ __forceinline__ void add(int slice, const Slot& slot, const Finish& finish) const {
    using Stored = StoredSums<S, N>;
    const int end = UNITS * (slice + 1) / progress.slices * (32 * WIDTH);
    int number = UNITS * slice / progress.slices * (32 * WIDTH) + threadIdx.x % THREADS * N;
#pragma unroll 1
    for (; number < end; number += THREADS * N) {
      S total[N] = {};
#pragma unroll 1
      for (int first = 0; first < progress.splits; first += IN_FLIGHT) {
        const int count = progress.splits - first;
        Stored stored[IN_FLIGHT] = {};
        bool is_complete;
        do {
          // Again only those that were not stored yet.
#pragma unroll
          for (int i = 0; i < IN_FLIGHT; ++i) {
            if (i < count && !stored[i].is_complete()) {
              stored[i] = Stored::load(at<N>(slot(first + i), number));
            }
          }
          is_complete = true;
#pragma unroll
          for (int i = 0; i < IN_FLIGHT; ++i) {
            is_complete = is_complete && (i >= count || stored[i].is_complete());
          }
        } while (!is_complete);
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; ++i) {
          if (i >= count) break;
          stored[i].add_to(total);
          Stored{}.store(at<N>(slot(first + i), number));
        }
      }
      finish(total, number);
    }
  }
};
