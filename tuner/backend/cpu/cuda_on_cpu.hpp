// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for the host's compiler: what NVRTC gives a kernel without any header. Included before
// every kernel; standard headers are left out because parsing them would double the compile time.
#pragma once

#define TUNER_CPU_BACKEND    // for kernels with a version for the host
#ifndef TUNER_STANDARD_MATH  // as nvcc does
#ifndef __NVCC__
#define __NVCC__
#endif
#ifndef __CUDACC__
#define __CUDACC__
#endif
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION CUDA_VERSION
#endif

// A kernel for processors alone may include standard headers, which declare the same functions.
#include "number_constants.h"
#ifndef TUNER_STANDARD_MATH
#include "cuda_math_on_cpu.hpp"
#include "directed_rounding_on_cpu.hpp"
#include "special_functions_on_cpu.hpp"
#endif
#include "kernel_abi.hpp"

#define __global__
#define __device__
#define __host__
#define __constant__ __attribute__((visibility("default")))  // found by its name (LoadedImage)
#define __managed__
#define __grid_constant__
// A block runs on one OS thread from its beginning to its end.
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#ifndef TUNER_STANDARD_MATH  // libstdc++ 13 writes __attribute__((__noinline__))
#define __noinline__ __attribute__((noinline))
#endif
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __nv_pure__

typedef __SIZE_TYPE__ size_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef unsigned int uint;
typedef unsigned short ushort;

// What nvcc includes before every source, as far as kernels use it.
extern "C" int printf(const char*, ...);
extern "C" void* memcpy(void*, const void*, size_t) noexcept;
extern "C" void* memset(void*, int, size_t) noexcept;
extern "C" void* memmove(void*, const void*, size_t) noexcept;
extern "C" void* malloc(size_t) noexcept;
extern "C" void free(void*) noexcept;
namespace std {}

namespace tuner {
static thread_local KernelContext* context;
}  // namespace tuner

#define threadIdx (::tuner::context->thread)
#define blockIdx (::tuner::context->block)
#define blockDim (::tuner::context->block_shape)
#define gridDim (::tuner::context->grid_shape)
#define warpSize 32

// ---- vector types

// clang-format off
#define TUNER_VECTORS(type, name, align2, align4)                             \
  struct name##1 { type x; };                                                 \
  struct __align__(align2) name##2 { type x, y; };                            \
  struct name##3 { type x, y, z; };                                           \
  struct __align__(align4) name##4 { type x, y, z, w; };                      \
  inline name##1 make_##name##1(type x) { return {x}; }                       \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
// clang-format on

TUNER_VECTORS(signed char, char, 2, 4)
TUNER_VECTORS(unsigned char, uchar, 2, 4)
TUNER_VECTORS(short, short, 4, 8)
TUNER_VECTORS(unsigned short, ushort, 4, 8)
TUNER_VECTORS(int, int, 8, 16)
TUNER_VECTORS(unsigned, uint, 8, 16)
TUNER_VECTORS(long, long, 16, 16)
TUNER_VECTORS(unsigned long, ulong, 16, 16)
TUNER_VECTORS(long long, longlong, 16, 16)
TUNER_VECTORS(unsigned long long, ulonglong, 16, 16)
TUNER_VECTORS(float, float, 8, 16)
TUNER_VECTORS(double, double, 16, 16)
#undef TUNER_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// ---- types of the host's interfaces, which classes and declarations beside kernels name

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUstream_st* CUstream;
typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};
struct cudaDeviceProp;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

// ---- synchronisation

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  tuner::context->sync_block(*tuner::context, {file, line});
}
/// Every thread takes its own vote back once all have counted, so that none is left for the next.
inline int __syncthreads_count(int predicate, const char* file = __builtin_FILE(),
                               int line = __builtin_LINE()) {
  const unsigned vote = predicate != 0 ? 1u : 0u;
  tuner::context->votes += vote;
  __syncthreads(file, line);
  const int votes = static_cast<int>(tuner::context->votes);
  __syncthreads(file, line);
  tuner::context->votes -= vote;
  return votes;
}
inline int __syncthreads_or(int predicate, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  return __syncthreads_count(predicate, file, line) != 0;
}
inline int __syncthreads_and(int predicate, const char* file = __builtin_FILE(),
                             int line = __builtin_LINE()) {
  return __syncthreads_count(predicate == 0, file, line) == 0;
}
inline void __syncwarp(unsigned lanes = 0xffffffffu) {
  tuner::context->sync_warp(*tuner::context, lanes);
}
namespace tuner {

#ifdef TUNER_INTERLEAVED
inline void notify(BlockEvent event, const void* address = nullptr, unsigned long size_bytes = 0) {
  if (context->notify != nullptr) context->notify(*context, event, address, size_bytes);
}
#else
inline void notify(BlockEvent) {}
#endif

/// Lets the other threads of the block run before this one goes on.
inline void pause() {
  struct Turn {
    mutable bool has_come;
    static bool is_over(const void* turn) {
      const bool was = static_cast<const Turn*>(turn)->has_come;
      static_cast<const Turn*>(turn)->has_come = true;
      return was;
    }
  };
  const Turn turn{false};
  context->await(*context, &Turn::is_over, &turn);
}

/// Where a loop may be waiting for another thread: now and then, the others run.
inline void poll() {
  if (++context->polls % 64 != 0) return;
  notify(BlockEvent::wait);
  __syncwarp(1u << (context->thread_rank() % 32));
  pause();
}

/// A meeting of `threads` threads at barrier `number` of the block.
inline void sync_named(int number, unsigned threads) {
  struct Meeting {
    const NamedBarrier* barrier;
    unsigned generation;
    static bool is_over(const void* meeting) {
      const auto* const it = static_cast<const Meeting*>(meeting);
      return it->barrier->generation != it->generation;
    }
  };
  NamedBarrier& barrier = context->named[number];
  const Meeting meeting{&barrier, barrier.generation};
  if (++barrier.arrived == threads) barrier = {0, barrier.generation + 1};
  context->await(*context, &Meeting::is_over, &meeting);
}

}  // namespace tuner

inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  tuner::poll();
}
inline void __threadfence() {
  tuner::notify(tuner::BlockEvent::fence);
  __threadfence_block();
}
inline void __threadfence_system() {
  __threadfence();
}

/// No launch begins before the one before it has ended.
inline void cudaGridDependencySynchronize() {}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// ---- warp exchange: every lane posts its value, and reads others' between two barriers

namespace tuner {

inline unsigned lane() {
  return context->thread_rank() % 32;
}

template <class T, class Read>
inline auto exchange(unsigned lanes, T value, Read read) {
  static_assert(sizeof(T) <= sizeof(unsigned long long), "a value of at most 64 bits");
  unsigned long long* const slots = context->exchange + context->thread_rank() / 32 * 32;
  __builtin_memcpy(&slots[lane()], &value, sizeof value);
  __syncwarp(lanes);
  const auto result = read(slots);
  __syncwarp(lanes);
  return result;
}

/// The value of lane `source`, the own one when that lies outside of the segment of `width` lanes.
template <class T>
inline T shuffle(unsigned lanes, T value, int source, int width) {
  const int first = static_cast<int>(lane()) & ~(width - 1);
  return exchange(lanes, value, [=](const unsigned long long* slots) {
    T result = value;
    if (source >= first && source < first + width) {
      __builtin_memcpy(&result, &slots[source], sizeof result);
    }
    return result;
  });
}

}  // namespace tuner

template <class T>
inline T __shfl_sync(unsigned lanes, T value, int source, int width = 32) {
  const int first = static_cast<int>(tuner::lane()) & ~(width - 1);
  return tuner::shuffle(lanes, value, first + (source & (width - 1)), width);
}
template <class T>
inline T __shfl_up_sync(unsigned lanes, T value, unsigned delta, int width = 32) {
  return tuner::shuffle(lanes, value, static_cast<int>(tuner::lane() - delta), width);
}
template <class T>
inline T __shfl_down_sync(unsigned lanes, T value, unsigned delta, int width = 32) {
  return tuner::shuffle(lanes, value, static_cast<int>(tuner::lane() + delta), width);
}
template <class T>
inline T __shfl_xor_sync(unsigned lanes, T value, int mask, int width = 32) {
  return tuner::shuffle(lanes, value, static_cast<int>(tuner::lane()) ^ mask, width);
}
inline unsigned __ballot_sync(unsigned lanes, int predicate) {
  return tuner::exchange(lanes, predicate != 0 ? 1ull : 0ull, [=](const unsigned long long* slots) {
    unsigned votes = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if (lanes >> i & 1u) votes |= static_cast<unsigned>(slots[i] & 1u) << i;
    }
    return votes;
  });
}
inline int __any_sync(unsigned lanes, int predicate) {
  return __ballot_sync(lanes, predicate) != 0;
}
inline int __all_sync(unsigned lanes, int predicate) {
  return __ballot_sync(lanes, predicate == 0) == 0;
}

template <class T>
inline unsigned __match_any_sync(unsigned lanes, T value) {
  return tuner::exchange(lanes, value, [=](const unsigned long long* slots) {
    unsigned equal = 0;
    for (unsigned i = 0; i < 32; ++i) {
      if ((lanes >> i & 1u) != 0 && __builtin_memcmp(&slots[i], &value, sizeof value) == 0) {
        equal |= 1u << i;
      }
    }
    return equal;
  });
}
template <class T>
inline unsigned __match_all_sync(unsigned lanes, T value, int* all) {
  *all = __match_any_sync(lanes, value) == lanes;
  return *all != 0 ? lanes : 0;
}

namespace tuner {

template <class T, class Operation>
inline T reduce_lanes(unsigned lanes, T value, Operation operation) {
  return exchange(lanes, value, [=](const unsigned long long* slots) {
    T result = value;
    for (unsigned i = 0; i < 32; ++i) {
      T other;
      __builtin_memcpy(&other, &slots[i], sizeof other);
      if ((lanes >> i & 1u) != 0 && i != lane()) result = operation(result, other);
    }
    return result;
  });
}

}  // namespace tuner

#define TUNER_REDUCE(name, result)                                                  \
  template <class T>                                                                \
  inline T name(unsigned lanes, T value) {                                          \
    return tuner::reduce_lanes(lanes, value, [](T x, T y) -> T { return result; }); \
  }
TUNER_REDUCE(__reduce_add_sync, x + y)
TUNER_REDUCE(__reduce_min_sync, y < x ? y : x)
TUNER_REDUCE(__reduce_max_sync, x < y ? y : x)
TUNER_REDUCE(__reduce_and_sync, x& y)
TUNER_REDUCE(__reduce_or_sync, x | y)
TUNER_REDUCE(__reduce_xor_sync, x ^ y)
#undef TUNER_REDUCE

/// The lanes that a GPU would run together are not known here: only that this one runs.
__attribute__((
    error("__activemask() is not available on the cpu backend: name the lanes"))) unsigned
__activemask();

// ---- atomics, with respect to all blocks

namespace tuner {

template <class T>
struct SameType {
  using type = T;
};

template <class T, class Update>
inline T atomic_update(T* address, Update update) {
  T seen, wanted;
  __atomic_load(address, &seen, __ATOMIC_RELAXED);
  do {
    wanted = update(seen);
  } while (!__atomic_compare_exchange(address, &seen, &wanted, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED));
  if (__builtin_memcmp(&seen, &wanted, sizeof seen) == 0) poll();
  return seen;
}

}  // namespace tuner

#define TUNER_ATOMIC(name, result)                                            \
  template <class T>                                                          \
  inline T name(T* address, typename tuner::SameType<T>::type value) {        \
    return tuner::atomic_update(address, [=](T old) -> T { return result; }); \
  }
TUNER_ATOMIC(atomicAdd, old + value)
TUNER_ATOMIC(atomicSub, old - value)
TUNER_ATOMIC(atomicMax, old < value ? value : old)
TUNER_ATOMIC(atomicMin, value < old ? value : old)
TUNER_ATOMIC(atomicAnd, old& value)
TUNER_ATOMIC(atomicOr, old | value)
TUNER_ATOMIC(atomicXor, old ^ value)
TUNER_ATOMIC(atomicExch, value)
TUNER_ATOMIC(atomicInc, old >= value ? T(0) : old + 1)
TUNER_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef TUNER_ATOMIC

/// The elements one by one, as on a GPU.
inline float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
inline float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
          atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}

template <class T>
inline T atomicCAS(T* address, typename tuner::SameType<T>::type expected,
                   typename tuner::SameType<T>::type value) {
  if (!__atomic_compare_exchange(address, &expected, &value, false, __ATOMIC_SEQ_CST,
                                 __ATOMIC_SEQ_CST)) {
    tuner::poll();
  }
  return expected;
}

// With respect to the block or to the whole system they are the same.
#define TUNER_SCOPES(name)                                                      \
  template <class T>                                                            \
  inline T name##_block(T* address, typename tuner::SameType<T>::type value) {  \
    return name(address, value);                                                \
  }                                                                             \
  template <class T>                                                            \
  inline T name##_system(T* address, typename tuner::SameType<T>::type value) { \
    return name(address, value);                                                \
  }
TUNER_SCOPES(atomicAdd)
TUNER_SCOPES(atomicSub)
TUNER_SCOPES(atomicMax)
TUNER_SCOPES(atomicMin)
TUNER_SCOPES(atomicAnd)
TUNER_SCOPES(atomicOr)
TUNER_SCOPES(atomicXor)
TUNER_SCOPES(atomicExch)
#undef TUNER_SCOPES

// ---- clocks, and the end of a thread

#ifndef TUNER_STANDARD_MATH  // <ctime> and <cassert> have their own
#ifdef __x86_64__
inline long long clock64() {
  return static_cast<long long>(__builtin_ia32_rdtsc());
}
inline long clock() {
  return static_cast<long>(clock64());
}
#endif
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
extern "C" int dprintf(int, const char*, ...);
namespace tuner {
[[noreturn]] inline void fail_assertion(const char* condition, const char* file, int line) {
  dprintf(2, "%s:%d: assertion failed: %s\n", file, line, condition);
  __builtin_trap();
}
}  // namespace tuner
#define assert(condition) \
  ((condition) ? (void)0 : tuner::fail_assertion(#condition, __FILE__, __LINE__))
#endif
#endif
/// In a loop that waits for other threads: they run meanwhile.
inline void __nanosleep(unsigned) {
  tuner::notify(tuner::BlockEvent::wait);
  __syncwarp(1u << (tuner::context->thread_rank() % 32));
  tuner::pause();
}
inline void __trap() {
  __builtin_trap();
}

// ---- loads with a cache hint

template <class T>
inline T __ldg(const T* address) {
  return *address;
}
template <class T>
inline T __ldcg(const T* address) {
  return *address;
}
template <class T>
inline T __ldcs(const T* address) {
  return *address;
}
template <class T>
inline T __ldca(const T* address) {
  return *address;
}
template <class T>
inline T __ldlu(const T* address) {
  return *address;
}
template <class T>
inline T __ldcv(const T* address) {
  tuner::poll();
  return *static_cast<const volatile T*>(address);
}
template <class T>
inline void __stwb(T* address, T value) {
  *address = value;
}
template <class T>
inline void __stwt(T* address, T value) {
  *address = value;
}
template <class T>
inline void __stcg(T* address, T value) {
  *address = value;
}
template <class T>
inline void __stcs(T* address, T value) {
  *address = value;
}

// ---- how the backend calls a kernel

namespace tuner {

template <unsigned... I>
struct Indices {};
template <unsigned N, unsigned... I>
struct IndicesUpTo : IndicesUpTo<N - 1, N - 1, I...> {};
template <unsigned... I>
struct IndicesUpTo<0, I...> {
  using type = Indices<I...>;
};

/// An argument, wherever it lies: an array that is passed by value may be less aligned than the
/// kernel's struct.
template <class Parameter>
__attribute__((always_inline)) inline Parameter passed(const void* argument) {
  Parameter value;
  __builtin_memcpy(static_cast<void*>(&value), argument, sizeof value);
  return value;
}

/// By the kernel's place among the entries: the name of `sizes` tells both
/// (compiled_signature.hpp).
template <int Entry, class Kernel>
struct Signature;

template <int Entry, class... Parameters>
struct Signature<Entry, void (*)(Parameters...)> {
  static constexpr unsigned count = sizeof...(Parameters);
  static constexpr unsigned sizes[count + 1] = {sizeof(Parameters)..., 0};

  template <unsigned... I>
  __attribute__((always_inline)) static void call(void (*kernel)(Parameters...),
                                                  void* const* arguments, Indices<I...>) {
    kernel(passed<Parameters>(arguments[I])...);
  }
};

}  // namespace tuner

namespace tuner {
inline KernelContext** context_place() {
  return &context;
}
}  // namespace tuner
#ifdef TUNER_STANDARD_MATH
#define TUNER_CONTEXT_PLACE nullptr
#else
#define TUNER_CONTEXT_PLACE tuner::context_place
#endif

/// Exports a kernel, by its place among the entries, under a name. At the end of a translation
/// unit, once for each name.
#define TUNER_EXPORT_KERNEL(ENTRY, NAME, ...)                                              \
  namespace tuner {                                                                        \
  namespace of_##NAME {                                                                    \
    using Type = Signature<ENTRY, decltype(&__VA_ARGS__)>;                                 \
    static void enter(KernelContext& place, void* const* arguments) {                      \
      context = &place;                                                                    \
      Type::call(&__VA_ARGS__, arguments, IndicesUpTo<Type::count>::type());               \
    }                                                                                      \
  }                                                                                        \
  }                                                                                        \
  extern "C" __attribute__((visibility("default")))                                        \
  const tuner::KernelImage NAME = {tuner::of_##NAME::enter, tuner::of_##NAME::Type::sizes, \
                                   tuner::of_##NAME::Type::count, TUNER_CONTEXT_PLACE};
