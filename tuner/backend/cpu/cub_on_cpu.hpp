// SPDX-License-Identifier: Apache-2.0
// What kernels use most of <cub/cub.cuh> for the host's compiler: reductions, scans, loads and
// stores of a block, reductions and scans of a warp. One thread computes for all between barriers.
#pragma once

namespace cub {

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;
};
struct ArgMax {
  template <class Pair>
  Pair operator()(const Pair& a, const Pair& b) const {
    return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Pair>
  Pair operator()(const Pair& a, const Pair& b) const {
    return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
  }
};

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS
};
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE
};
enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE
};

namespace on_cpu {

/// A value of each thread, and room to combine them. Shared memory is not constructed.
template <class T, int kThreads>
struct Storage {
  alignas(T) unsigned char bytes[sizeof(T) * kThreads];
  T* values() { return reinterpret_cast<T*>(bytes); }
};

/// Combines neighbours until one is left, as a tree of threads does: its rounding errors are those
/// of a tree.
template <class T, class Operation>
T combined(T* values, int count, Operation operation) {
  while (count > 1) {
    for (int i = 0; i < count / 2; ++i) values[i] = operation(values[2 * i], values[2 * i + 1]);
    if (count % 2 == 1) values[count / 2] = values[count - 1];
    count = (count + 1) / 2;
  }
  return values[0];
}

template <class T, int kItems, class Operation>
T combined(const T (&items)[kItems], Operation operation) {
  T result = items[0];
  for (int i = 1; i < kItems; ++i) result = operation(result, items[i]);
  return result;
}

/// The threads that work together, one of which computes while the others wait.
struct Block {
  static int rank() { return static_cast<int>(::tuner::context->thread_rank()); }
  static void sync() { __syncthreads(); }
};
template <int kLanes>
struct Warp {
  static int rank() { return static_cast<int>(::tuner::lane()) % kLanes; }
  static void sync() {
    const unsigned first = ::tuner::lane() / kLanes * kLanes;
    __syncwarp(kLanes == 32 ? ~0u : ((1u << kLanes % 32) - 1) << first);
  }
};

/// The result is the first thread's; the others get back what they gave.
template <class T, int kThreads, class Group>
class Reduce {
 public:
  using TempStorage = Storage<T, kThreads>;
  explicit Reduce(TempStorage& storage) : storage_(storage) {}

  template <class Operation>
  T Reduce_(T input, Operation operation, int count) {
    T* const values = storage_.values();
    values[Group::rank()] = input;
    Group::sync();
    if (Group::rank() == 0) input = combined(values, count, operation);
    Group::sync();
    return input;
  }

 private:
  TempStorage& storage_;
};

template <class T, int kThreads, class Group>
class Scan {
 public:
  using TempStorage = Storage<T, kThreads>;
  explicit Scan(TempStorage& storage) : storage_(storage) {}

  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, Sum()); }
  void InclusiveSum(T input, T& output, T& aggregate) {
    InclusiveScan(input, output, Sum(), aggregate);
  }
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T(), Sum()); }
  void ExclusiveSum(T input, T& output, T& aggregate) {
    ExclusiveScan(input, output, T(), Sum(), aggregate);
  }
  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation) {
    T aggregate;
    InclusiveScan(input, output, operation, aggregate);
  }
  template <class Operation>
  void InclusiveScan(T input, T& output, Operation operation, T& aggregate) {
    T* const values = storage_.values();
    values[Group::rank()] = input;
    Group::sync();
    if (Group::rank() == 0) {
      for (int i = 1; i < kThreads; ++i) values[i] = operation(values[i - 1], values[i]);
    }
    Group::sync();
    output = values[Group::rank()];
    aggregate = values[kThreads - 1];
    Group::sync();
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation) {
    T aggregate;
    ExclusiveScan(input, output, initial, operation, aggregate);
  }
  template <class Operation>
  void ExclusiveScan(T input, T& output, T initial, Operation operation, T& aggregate) {
    const T before = before_own(input, operation, aggregate);
    output = Group::rank() == 0 ? initial : operation(initial, before);
  }

  template <int kItems>
  void InclusiveSum(T (&input)[kItems], T (&output)[kItems]) {
    InclusiveScan(input, output, Sum());
  }
  template <int kItems>
  void ExclusiveSum(T (&input)[kItems], T (&output)[kItems]) {
    ExclusiveScan(input, output, T(), Sum());
  }
  template <int kItems>
  void ExclusiveSum(T (&input)[kItems], T (&output)[kItems], T& aggregate) {
    ExclusiveScan(input, output, T(), Sum(), aggregate);
  }
  template <int kItems>
  void InclusiveSum(T (&input)[kItems], T (&output)[kItems], T& aggregate) {
    InclusiveScan(input, output, Sum(), aggregate);
  }
  template <int kItems, class Operation>
  void InclusiveScan(T (&input)[kItems], T (&output)[kItems], Operation operation) {
    T aggregate;
    InclusiveScan(input, output, operation, aggregate);
  }
  template <int kItems, class Operation>
  void InclusiveScan(T (&input)[kItems], T (&output)[kItems], Operation operation, T& aggregate) {
    const T before = before_own(combined(input, operation), operation, aggregate);
    T last = Group::rank() == 0 ? input[0] : operation(before, input[0]);
    for (int i = 0; i < kItems; ++i) {
      if (i > 0) last = operation(last, input[i]);
      output[i] = last;
    }
  }
  template <int kItems, class Operation>
  void ExclusiveScan(T (&input)[kItems], T (&output)[kItems], T initial, Operation operation) {
    T aggregate;
    ExclusiveScan(input, output, initial, operation, aggregate);
  }
  template <int kItems, class Operation>
  void ExclusiveScan(T (&input)[kItems], T (&output)[kItems], T initial, Operation operation,
                     T& aggregate) {
    T before;
    ExclusiveScan(combined(input, operation), before, initial, operation, aggregate);
    for (int i = 0; i < kItems; ++i) {
      const T next = input[i];
      output[i] = before;
      before = operation(before, next);
    }
  }

 private:
  /// What all threads before this one hold together; the first one gets its own.
  template <class Operation>
  T before_own(T own, Operation operation, T& aggregate) {
    T inclusive;
    InclusiveScan(own, inclusive, operation, aggregate);
    storage_.values()[Group::rank()] = inclusive;
    Group::sync();
    const T before = Group::rank() == 0 ? own : storage_.values()[Group::rank() - 1];
    Group::sync();
    return before;
  }

  TempStorage& storage_;
};

}  // namespace on_cpu

template <class T, int kX, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int kY = 1,
          int kZ = 1>
class BlockReduce : public on_cpu::Reduce<T, kX * kY * kZ, on_cpu::Block> {
  using Base = on_cpu::Reduce<T, kX * kY * kZ, on_cpu::Block>;
  static constexpr int kThreads = kX * kY * kZ;

 public:
  explicit BlockReduce(typename Base::TempStorage& storage) : Base(storage) {}
  template <class Operation>
  T Reduce(T input, Operation operation) {
    return this->Reduce_(input, operation, kThreads);
  }
  template <class Operation>
  T Reduce(T input, Operation operation, int valid) {
    return this->Reduce_(input, operation, valid);
  }
  template <int kItems, class Operation>
  T Reduce(T (&items)[kItems], Operation operation) {
    return this->Reduce_(on_cpu::combined(items, operation), operation, kThreads);
  }
  T Sum(T input) { return Reduce(input, ::cub::Sum()); }
  T Sum(T input, int valid) { return Reduce(input, ::cub::Sum(), valid); }
  template <int kItems>
  T Sum(T (&items)[kItems]) {
    return Reduce(items, ::cub::Sum());
  }
};

template <class T, int kLanes = 32>
class WarpReduce : public on_cpu::Reduce<T, kLanes, on_cpu::Warp<kLanes>> {
  using Base = on_cpu::Reduce<T, kLanes, on_cpu::Warp<kLanes>>;

 public:
  explicit WarpReduce(typename Base::TempStorage& storage) : Base(storage) {}
  template <class Operation>
  T Reduce(T input, Operation operation) {
    return this->Reduce_(input, operation, kLanes);
  }
  template <class Operation>
  T Reduce(T input, Operation operation, int valid) {
    return this->Reduce_(input, operation, valid);
  }
  T Sum(T input) { return Reduce(input, ::cub::Sum()); }
  T Sum(T input, int valid) { return Reduce(input, ::cub::Sum(), valid); }
};

template <class T, int kX, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int kY = 1, int kZ = 1>
class BlockScan : public on_cpu::Scan<T, kX * kY * kZ, on_cpu::Block> {
 public:
  using on_cpu::Scan<T, kX * kY * kZ, on_cpu::Block>::Scan;
};

template <class T, int kLanes = 32>
class WarpScan : public on_cpu::Scan<T, kLanes, on_cpu::Warp<kLanes>> {
 public:
  using on_cpu::Scan<T, kLanes, on_cpu::Warp<kLanes>>::Scan;
};

template <class T, int kX, int kItems, BlockLoadAlgorithm kAlgorithm = BLOCK_LOAD_DIRECT,
          int kY = 1, int kZ = 1>
class BlockLoad {
 public:
  struct TempStorage {};
  BlockLoad() = default;
  explicit BlockLoad(TempStorage&) {}
  template <class Iterator>
  void Load(Iterator from, T (&items)[kItems]) {
    for (int i = 0; i < kItems; ++i) items[i] = from[place(i)];
  }
  template <class Iterator>
  void Load(Iterator from, T (&items)[kItems], int valid) {
    for (int i = 0; i < kItems; ++i) {
      if (place(i) < valid) items[i] = from[place(i)];
    }
  }
  template <class Iterator, class U>
  void Load(Iterator from, T (&items)[kItems], int valid, U otherwise) {
    for (int i = 0; i < kItems; ++i) {
      items[i] = place(i) < valid ? static_cast<T>(from[place(i)]) : static_cast<T>(otherwise);
    }
  }

 private:
  static int place(int i) {
    const int rank = on_cpu::Block::rank();
    return kAlgorithm == BLOCK_LOAD_STRIPED ? i * kX * kY * kZ + rank : rank * kItems + i;
  }
};

template <class T, int kX, int kItems, BlockStoreAlgorithm kAlgorithm = BLOCK_STORE_DIRECT,
          int kY = 1, int kZ = 1>
class BlockStore {
 public:
  struct TempStorage {};
  BlockStore() = default;
  explicit BlockStore(TempStorage&) {}
  template <class Iterator>
  void Store(Iterator to, T (&items)[kItems]) {
    for (int i = 0; i < kItems; ++i) to[place(i)] = items[i];
  }
  template <class Iterator>
  void Store(Iterator to, T (&items)[kItems], int valid) {
    for (int i = 0; i < kItems; ++i) {
      if (place(i) < valid) to[place(i)] = items[i];
    }
  }

 private:
  static int place(int i) {
    const int rank = on_cpu::Block::rank();
    return kAlgorithm == BLOCK_STORE_STRIPED ? i * kX * kY * kZ + rank : rank * kItems + i;
  }
};

}  // namespace cub
