// SPDX-License-Identifier: Apache-2.0
// Included into a kernel that g++ compiles with -fsanitize=thread, in place of the sanitizer's
// library: the functions below are called before every access to memory. Before a thread writes
// what it has just read, other threads of its block and other blocks run, as they may on a GPU. So
// an update that is not atomic loses theirs. The backend hears of all writes (BlockEvent).
#pragma once

#define TUNER_PROBE extern "C" __attribute__((no_sanitize("thread")))
// Not inlined into each probe, which takes as long to compile as a small kernel.
#define TUNER_UNPROBED __attribute__((no_sanitize("thread"), noinline)) inline

namespace tuner {

/// Whether an address is of the thread's stack or of the backend itself.
TUNER_UNPROBED bool is_own(const void* address) {
  constexpr long kStackBytes = 1 << 16;
  const char* const byte = static_cast<const char*>(address);
  const long above = byte - static_cast<const char*>(__builtin_frame_address(0));
  const char* const place = reinterpret_cast<const char*>(context);
  return (above > -kStackBytes && above < kStackBytes) ||
         (byte >= place && byte < place + sizeof(KernelContext));
}

/// A loop that waits for another block reads memory: now and then, the others run.
TUNER_UNPROBED void count_reads(unsigned count) {
  constexpr unsigned kMany = 1 << 16;
  if ((context->accesses += count) < kMany) return;
  context->accesses = 0;
  notify(BlockEvent::wait);
}
constexpr unsigned kRead = 1, kReadInALoop = 1 << 10;

TUNER_UNPROBED void before_read(const void* address, unsigned weight = kRead) {
  if (context == nullptr || is_own(address)) return;  // null: the image is being loaded
  count_reads(weight);
  RecentReads& recent = context->reads[context->thread_rank()];
  recent.addresses[recent.count++ % RecentReads::kSlots] = address;
}

/// Before a thread writes to an address. If it has read there, other threads run first.
TUNER_UNPROBED void before_update(const void* address) {
  RecentReads& recent = context->reads[context->thread_rank()];
  bool was_read = false;
  for (const void*& read : recent.addresses) {
    was_read = was_read || read == address;
    if (read == address) read = nullptr;
  }
  if (!was_read) return;
  // The first updates of a thread show a race; many more would take too long.
  constexpr unsigned kEach = 32, kFew = 64;
  if (++recent.updates <= kEach || recent.updates % kFew == 0) pause();
  constexpr unsigned kPauses = 4;
  if (context->pauses < kPauses) {
    ++context->pauses;
    notify(BlockEvent::wait);
  }
}

TUNER_UNPROBED void before_write(const void* address, unsigned long size_bytes,
                                 BlockEvent event = BlockEvent::write) {
  if (context == nullptr || is_own(address)) return;
  before_update(address);
  notify(event, address, size_bytes);
}

TUNER_UNPROBED void before_atomic(const volatile void* address, unsigned long size_bytes) {
  notify(BlockEvent::write_for_all, const_cast<const void*>(address), size_bytes);
}

}  // namespace tuner

TUNER_PROBE void __tsan_init() {}
TUNER_PROBE void __tsan_func_entry(void*) {}
TUNER_PROBE void __tsan_func_exit(void*) {}
TUNER_PROBE void __tsan_vptr_update(void*, void*) {}
TUNER_PROBE void __tsan_vptr_read(void*) {}
TUNER_PROBE void __tsan_read_range(void* address, unsigned long) {
  tuner::before_read(address);
}
TUNER_PROBE void __tsan_write_range(void* address, unsigned long size_bytes) {
  tuner::before_write(address, size_bytes);
}
#define TUNER_ACCESSES(SIZE)                                              \
  TUNER_PROBE void __tsan_read##SIZE(void* address) {                     \
    tuner::before_read(address);                                          \
  }                                                                       \
  TUNER_PROBE void __tsan_write##SIZE(void* address) {                    \
    tuner::before_write(address, SIZE);                                   \
  }                                                                       \
  TUNER_PROBE void __tsan_unaligned_read##SIZE(void* address) {           \
    tuner::before_read(address);                                          \
  }                                                                       \
  TUNER_PROBE void __tsan_unaligned_write##SIZE(void* address) {          \
    tuner::before_write(address, SIZE);                                   \
  }                                                                       \
  TUNER_PROBE void __tsan_volatile_read##SIZE(void* address) {            \
    tuner::before_read(address, tuner::kReadInALoop);                     \
  }                                                                       \
  TUNER_PROBE void __tsan_volatile_write##SIZE(void* address) {           \
    tuner::before_write(address, SIZE, tuner::BlockEvent::write_for_all); \
  }                                                                       \
  TUNER_PROBE void __tsan_unaligned_volatile_read##SIZE(void* address) {  \
    tuner::before_read(address, tuner::kReadInALoop);                     \
  }                                                                       \
  TUNER_PROBE void __tsan_unaligned_volatile_write##SIZE(void* address) { \
    tuner::before_write(address, SIZE, tuner::BlockEvent::write_for_all); \
  }
TUNER_ACCESSES(1)
TUNER_ACCESSES(2)
TUNER_ACCESSES(4)
TUNER_ACCESSES(8)
TUNER_ACCESSES(16)
#undef TUNER_ACCESSES

// The sanitizer's names of the atomic operations, which g++ calls instead of instructions.
#define TUNER_UPDATE(BITS, TYPE, NAME)                                                \
  TUNER_PROBE TYPE __tsan_atomic##BITS##_##NAME(volatile void* at, TYPE value, int) { \
    tuner::before_atomic(at, sizeof(TYPE));                                           \
    return __atomic_##NAME(static_cast<volatile TYPE*>(at), value, __ATOMIC_SEQ_CST); \
  }
#define TUNER_COMPARE_EXCHANGE(BITS, TYPE, NAME)                                   \
  TUNER_PROBE bool __tsan_atomic##BITS##_compare_exchange_##NAME(                  \
      volatile void* at, void* expected, TYPE value, int, int) {                   \
    const TYPE old = *static_cast<TYPE*>(expected);                                \
    tuner::before_update(const_cast<const void*>(at));                             \
    if (old != value && *static_cast<volatile TYPE*>(at) == old) {                 \
      tuner::before_atomic(at, sizeof(TYPE));                                      \
    }                                                                              \
    return __atomic_compare_exchange_n(static_cast<volatile TYPE*>(at),            \
                                       static_cast<TYPE*>(expected), value, false, \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
  }
#define TUNER_ATOMICS(BITS, TYPE)                                                         \
  TUNER_PROBE TYPE __tsan_atomic##BITS##_load(const volatile void* at, int) {             \
    tuner::count_reads(tuner::kReadInALoop);                                              \
    return __atomic_load_n(static_cast<const volatile TYPE*>(at), __ATOMIC_SEQ_CST);      \
  }                                                                                       \
  TUNER_PROBE void __tsan_atomic##BITS##_store(volatile void* at, TYPE value, int) {      \
    tuner::before_atomic(at, sizeof(TYPE));                                               \
    __atomic_store_n(static_cast<volatile TYPE*>(at), value, __ATOMIC_SEQ_CST);           \
  }                                                                                       \
  TUNER_COMPARE_EXCHANGE(BITS, TYPE, strong)                                              \
  TUNER_COMPARE_EXCHANGE(BITS, TYPE, weak)                                                \
  TUNER_PROBE TYPE __tsan_atomic##BITS##_exchange(volatile void* at, TYPE value, int) {   \
    tuner::before_atomic(at, sizeof(TYPE));                                               \
    return __atomic_exchange_n(static_cast<volatile TYPE*>(at), value, __ATOMIC_SEQ_CST); \
  }                                                                                       \
  TUNER_UPDATE(BITS, TYPE, fetch_add)                                                     \
  TUNER_UPDATE(BITS, TYPE, fetch_sub)                                                     \
  TUNER_UPDATE(BITS, TYPE, fetch_and)                                                     \
  TUNER_UPDATE(BITS, TYPE, fetch_or)                                                      \
  TUNER_UPDATE(BITS, TYPE, fetch_xor)                                                     \
  TUNER_UPDATE(BITS, TYPE, fetch_nand)
TUNER_ATOMICS(8, unsigned char)
TUNER_ATOMICS(16, unsigned short)
TUNER_ATOMICS(32, unsigned int)
TUNER_ATOMICS(64, unsigned long)
#undef TUNER_ATOMICS
#undef TUNER_COMPARE_EXCHANGE
#undef TUNER_UPDATE
TUNER_PROBE void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
TUNER_PROBE void __tsan_atomic_signal_fence(int) {}
#undef TUNER_PROBE
#undef TUNER_UNPROBED
