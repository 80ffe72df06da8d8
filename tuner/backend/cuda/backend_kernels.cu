// SPDX-License-Identifier: Apache-2.0
// What the cuda backend runs beside the work that it is given.

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

// Occupies its stream until the host sets *released, and for no longer than `longest_ns`: then it
// sets *expired. Both lie in the host's memory. One thread.
__global__ void hold_stream(const volatile int* released, volatile int* expired,
                            long long longest_ns) {
  const unsigned long long begin = nanoseconds();
  while (*released == 0) {
    if (nanoseconds() - begin > static_cast<unsigned long long>(longest_ns)) {
      *expired = 1;
      return;
    }
  }
}

// Writes what one multiprocessor's clock and the device's timer show to by_sm[its number]:
// clock64 counts that multiprocessor's cycles, so two readings compare only on the same one. A
// block for each; where blocks share one, either's reading does. Numbers may have gaps, and then
// go beyond `multiprocessors`: those are left out.
__global__ void read_clocks(longlong2* by_sm, long long multiprocessors) {
  unsigned sm;
  asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
  if (sm >= multiprocessors) return;
  by_sm[sm] = make_longlong2(static_cast<long long>(nanoseconds()), clock64());
}

// The shortest step of the device's timer, which differs from one architecture to the next: of
// several changes seen. One thread.
__global__ void measure_timer_step(long long* step_ns) {
  constexpr int kChanges = 8;
  unsigned long long shortest = ~0ull;
  unsigned long long last = nanoseconds();
  for (int changes = 0; changes < kChanges;) {
    const unsigned long long now = nanoseconds();
    if (now == last) continue;
    if (now - last < shortest) shortest = now - last;
    last = now;
    ++changes;
  }
  *step_ns = static_cast<long long>(shortest);
}

// Reads `count` elements through the L2 cache, which then holds clean lines of them: what had been
// written there is in memory before the next kernel begins. Volatile, or the reads are left out.
__global__ void read_memory(const uint4* memory, long long count) {
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x; i < count;
       i += threads) {
    uint4 element;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(element.x), "=r"(element.y), "=r"(element.z), "=r"(element.w)
                 : "l"(memory + i));
  }
}

// Leaves NaN in the shared memory of a multiprocessor for the next block to find: what a block
// declares is not cleared for it. `bytes`, as many as a block can have; as each block then fills a
// multiprocessor, several times as many blocks as those reach them all.
__global__ void poison_shared_memory(long long bytes, unsigned content) {
  extern __shared__ unsigned shared[];
  for (long long i = threadIdx.x; i < bytes / 4; i += blockDim.x) {
    static_cast<volatile unsigned*>(shared)[i] = content;
  }
}

struct WordRange {
  unsigned* words;
  long long count;
};
struct WordRanges {
  WordRange at[64];
};

// Inverts the bits of memory. With a delay the next launch on the stream may begin before: if that
// is programmatic it does, as soon as all blocks of this one have begun.
__global__ void invert_memory(const __grid_constant__ WordRanges ranges, long long delay_ns) {
  if (delay_ns > 0) {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
    const unsigned long long begin = nanoseconds();
    while (nanoseconds() - begin < static_cast<unsigned long long>(delay_ns)) {
    }
  }
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  for (const WordRange& range : ranges.at) {
    for (long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
         i < range.count; i += threads) {
      range.words[i] = ~range.words[i];
    }
  }
}
