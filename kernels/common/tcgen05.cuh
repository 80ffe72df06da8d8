// SPDX-License-Identifier: Apache-2.0
// Products of matrices in shared memory by one thread, with sums in tensor memory (tcgen05), with a
// version for the host. Compute capability 10.0, architectures sm_100a and sm_103a.
//
// Tensor memory of a multiprocessor has 128 lanes of 512 columns of 32 bits. An address has the
// lane in its upper 16 bits, the column in its lower ones. A block allocates columns, of all lanes.
#pragma once

#include "common/async_barrier.cuh"
#include "common/operand_type.cuh"
#include "common/shared_memory.cuh"
#include "common/wgmma.cuh"  // for the descriptor of an operand, which differs in its version alone

constexpr int TENSOR_LANES = 128, TENSOR_COLUMNS = 512;

/// Columns to allocate where so many are needed: a power of two from 32 on.
__device__ constexpr int allocated_columns(int needed) {
  int columns = 32;
  while (columns < needed) columns *= 2;
  return columns;
}

/// What an instruction multiplies, as bits: ROWS x COLUMNS sums, of operands in shared memory.
template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR>
__device__ constexpr unsigned instruction_descriptor(int rows, int columns) {
  constexpr OperandType TYPE = OperandTypeOf<T>::value;
  constexpr unsigned SUM = TYPE == OperandType::s8 ? 2 : 1;  // of 32 bits: integer, float
  constexpr unsigned ELEMENT = TYPE == OperandType::tf32                              ? 2
                               : TYPE == OperandType::bf16 || TYPE == OperandType::s8 ? 1
                                                                                      : 0;
  return SUM << 4 | ELEMENT << 7 | ELEMENT << 10 | (ROWS_K_MAJOR ? 0u : 1u) << 15 |
         (COLUMNS_K_MAJOR ? 0u : 1u) << 16 | static_cast<unsigned>(columns / 8) << 17 |
         static_cast<unsigned>(rows / 16) << 24;
}

#ifdef TUNER_CPU_BACKEND
/// What the host has in place of sums that nothing has computed, or that a GPU would not compute
/// right: as a float not a number.
constexpr unsigned UNKNOWN_SUM = 0x7fedcba9;

inline unsigned& tensor_word(int lane, int column) {
  return tuner::context->tensor_memory.words[lane * TENSOR_COLUMNS + column];
}

/// Whether the block has these columns.
inline bool has_columns(unsigned first, unsigned count) {
  const tuner::TensorMemory& memory = tuner::context->tensor_memory;
  return memory.first <= first && first + count <= memory.first + memory.columns;
}

/// A product that has begun, or with a barrier the arrival when those before it are complete.
struct HostTensorOperation {
  unsigned long long rows, columns;
  unsigned sums, instruction;
  bool accumulate, is_arrival;
  unsigned barrier;
  unsigned long long operands;  // hash of them when the product began
  void (*compute)(const HostTensorOperation&);
};

/// The fields of an instruction descriptor.
struct HostInstruction {
  unsigned bits;

  unsigned field(int begin, int count) const { return bits >> begin & ((1u << count) - 1); }
  int rows() const { return static_cast<int>(field(24, 5)) * 16; }
  int columns() const { return static_cast<int>(field(17, 6)) * 8; }
  bool rows_k_major() const { return field(15, 1) == 0; }
  bool columns_k_major() const { return field(16, 1) == 0; }
  unsigned element() const { return field(7, 3); }
  /// In tensor memory, of a product.
  int lane(int row) const { return rows() == 128 ? row : row / 16 * 32 + row % 16; }

  /// Whether a GPU takes it with operands of this type.
  bool is_valid(OperandType type) const {
    const bool is_integer = type == OperandType::s8;
    constexpr unsigned ZERO = 0b11 << 30 | 1u << 29 | 1u << 23 | 0b11 << 13 | 1u << 6 | 0b1111;
    const unsigned expected = type == OperandType::tf32 ? 2 : is_integer ? 1 : 0;
    const bool is_type = type == OperandType::bf16 || type == OperandType::f16
                             ? element() <= 1
                             : element() == expected;
    const bool is_narrow = rows() == 64 && (!is_integer || columns() == 8);
    return (bits & ZERO) == 0 && field(4, 2) == (is_integer ? 2u : 1u) && is_type &&
           field(10, 3) == element() && (rows() == 64 || rows() == 128) &&
           columns() % (is_narrow ? 8 : 16) == 0 && 8 <= columns() && columns() <= 256;
  }
};

/// Whether a GPU takes the descriptor of an operand in the 128-byte swizzle: all constant bits, and
/// 32 bytes of K that lie in one row of an atom.
inline bool is_valid_operand(unsigned long long descriptor, bool is_k_major) {
  constexpr unsigned long long CONSTANT = 1ull << 62 | 1ull << 46;
  constexpr unsigned long long FIELDS = 0x3fffull << 32 | 0x3fffull << 16 | 0x3fffull;
  const unsigned in_row = static_cast<unsigned>(descriptor & 7u) * 16;
  return (descriptor & ~FIELDS) == CONSTANT && (is_k_major ? in_row + 32 <= 128 : in_row == 0);
}

template <class T>
Sum<T> operand_element(unsigned long long descriptor, bool is_k_major, int row, int k) {
  return is_k_major ? described_element<T, true>(descriptor, row, k)
                    : described_element<T, false>(descriptor, row, k);
}

/// Of all bytes that a product reads of an operand, in pieces of 16 that the swizzle permutes.
inline unsigned long long add_operand(unsigned long long hash, unsigned long long descriptor,
                                      bool is_k_major, int extent, int depth) {
  const auto add = [&](unsigned address) {
    unsigned long long words[2];
    __builtin_memcpy(words, at_shared_address<unsigned char>(swizzled_128(address)), sizeof words);
    for (const unsigned long long word : words) hash = (hash ^ word) * 1099511628211ull;
  };
  const auto field = [&](int begin) {
    return static_cast<unsigned>(descriptor >> begin & 0x3fffu) * 16;
  };
  for (int across = 0; across < (is_k_major ? extent : depth); ++across) {
    const auto row = static_cast<unsigned>(across);
    const unsigned begin = field(0) + row / 8 * field(32) + row % 8 * 128;
    const unsigned pieces = is_k_major ? 2 : static_cast<unsigned>(extent) / 8;
    for (unsigned i = 0; i < pieces; ++i) add(begin + i / 8 * field(16) + i % 8 * 16);
  }
  return hash;
}
template <class T>
unsigned long long operand_hash(const HostTensorOperation& product) {
  const HostInstruction shape{product.instruction};
  const unsigned long long hash = add_operand(14695981039346656037ull, product.rows,
                                              shape.rows_k_major(), shape.rows(), PRODUCT_DEPTH<T>);
  return add_operand(hash, product.columns, shape.columns_k_major(), shape.columns(),
                     PRODUCT_DEPTH<T>);
}

/// Calls what(word) of each sum of a product.
template <class What>
void for_each_sum(const HostTensorOperation& product, const What& what) {
  const HostInstruction shape{product.instruction};
  for (int row = 0; row < shape.rows(); ++row) {
    for (int column = 0; column < shape.columns(); ++column) {
      what(tensor_word(shape.lane(row), static_cast<int>(product.sums) + column));
    }
  }
}
inline void forget_sums(const HostTensorOperation& product) {
  for_each_sum(product, [](unsigned& word) { word = UNKNOWN_SUM; });
}

/// A GPU may read the operands from the begin of the product until now: where they have changed
/// since, its sums are unknown.
template <class T>
void compute_tensor_product(const HostTensorOperation& product) {
  if (operand_hash<T>(product) != product.operands) return forget_sums(product);
  constexpr int DEPTH = PRODUCT_DEPTH<T>, SPAN = 2048 / DEPTH;
  const HostInstruction shape{product.instruction};
  for (int first = 0; first < shape.columns(); first += SPAN) {
    const int count = shape.columns() - first < SPAN ? shape.columns() - first : SPAN;
    Sum<T> columns[SPAN][DEPTH];
    for (int i = 0; i < count; ++i) {
      for (int k = 0; k < DEPTH; ++k) {
        columns[i][k] = operand_element<T>(product.columns, shape.columns_k_major(), first + i, k);
      }
    }
    for (int row = 0; row < shape.rows(); ++row) {
      Sum<T> of_row[DEPTH];
      for (int k = 0; k < DEPTH; ++k) {
        of_row[k] = operand_element<T>(product.rows, shape.rows_k_major(), row, k);
      }
      for (int i = 0; i < count; ++i) {
        unsigned& word = tensor_word(shape.lane(row), static_cast<int>(product.sums) + first + i);
        Sum<T> sum = 0;
        if (product.accumulate) __builtin_memcpy(&sum, &word, sizeof sum);
        sum = added_up<T>(sum, of_row, columns[i]);
        __builtin_memcpy(&word, &sum, sizeof sum);
      }
    }
  }
}
#endif

/// Allocates COLUMNS columns and stores their address to shared memory; waits until they are free.
/// All lanes of one warp call it, once in a block; the address is there after a barrier of the
/// block, for tensor_memory_at().
template <int COLUMNS>
__device__ __forceinline__ void allocate_tensor_memory(unsigned address_at) {
  static_assert(COLUMNS == allocated_columns(COLUMNS) && COLUMNS <= TENSOR_COLUMNS);
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
      "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
      "tcgen05.fence::before_thread_sync;" ::"r"(address_at),
      "n"(COLUMNS)
      : "memory");
#else
  if (threadIdx.x % 32 == 0) {
    tuner::TensorMemory& memory = tuner::context->tensor_memory;
    if (memory.columns != 0) __trap();
    memory.first = TENSOR_COLUMNS - COLUMNS;  // seldom zero, which a kernel may not rely on
    memory.columns = COLUMNS;
    for (int lane = 0; lane < TENSOR_LANES; ++lane) {
      for (int column = 0; column < COLUMNS; ++column) {
        tensor_word(lane, static_cast<int>(memory.first) + column) = UNKNOWN_SUM;
      }
    }
    *at_shared_address<unsigned>(address_at) = memory.first;
  }
  __syncwarp();
#endif
}

/// The address that allocate_tensor_memory() has stored, after a barrier.
__device__ __forceinline__ unsigned tensor_memory_at(unsigned address_at) {
#ifndef TUNER_CPU_BACKEND
  unsigned address;
  asm volatile(
      "tcgen05.fence::after_thread_sync;\n"
      "ld.shared.b32 %0, [%1];"
      : "=r"(address)
      : "r"(address_at)
      : "memory");
  return address;
#else
  return *at_shared_address<const unsigned>(address_at);
#endif
}

/// Frees what the same warp has allocated, when products and loads are complete and a barrier of
/// the block has followed. Every block does so before it ends.
template <int COLUMNS>
__device__ __forceinline__ void free_tensor_memory(unsigned address) {
  __syncwarp();
#ifndef TUNER_CPU_BACKEND
  asm volatile(
      "tcgen05.fence::after_thread_sync;\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address),
      "n"(COLUMNS)
      : "memory");
#else
  if (threadIdx.x % 32 != 0) return;
  tuner::TensorMemory& memory = tuner::context->tensor_memory;
  const bool is_used =
      memory.complete_oldest != nullptr && memory.complete_oldest(memory.operations);
  if (!is_used && address == memory.first && memory.columns == COLUMNS) {
    memory.columns = 0;  // else the block ends with them, which the backend refuses
  }
#endif
}

/// Waits for the phase of a barrier, on which products or sums in tensor memory depend.
__device__ __forceinline__ void await_tensor_phase(unsigned barrier, unsigned parity) {
  await_phase(barrier, parity);
#ifndef TUNER_CPU_BACKEND
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
#endif
}

/// Arrives once for a warp, after its loads of sums that may be overwritten then. All lanes call
/// it.
__device__ __forceinline__ void arrive_after_loads(unsigned barrier) {
#ifndef TUNER_CPU_BACKEND
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
#endif
  __syncwarp();
  if (threadIdx.x % 32 == 0) arrive(barrier);
}

/// Loads COUNT sums, 8, 16 or 32, of neighbouring columns and the lane of this thread from `from`
/// on, an address of lane 0; waits for them. All lanes of a warp call it; a warp of a block has the
/// 32 lanes from 32 * (warp % 4) on.
template <class S, int COUNT>
__device__ __forceinline__ void load_sums(S (&to)[COUNT], unsigned from) {
  const unsigned first_lane = threadIdx.x / 32 % 4 * 32;
  const unsigned address = from + (first_lane << 16);
  __syncwarp();  // the instruction needs all lanes together
#ifndef TUNER_CPU_BACKEND
  struct {
    unsigned at[COUNT];
  } sum;
#define LOAD_SUMS(N, REGISTERS)                                                \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x" #N ".b32 {" SUMS_##REGISTERS \
               "}, [%" #N                                                      \
               "];\n"                                                          \
               "tcgen05.wait::ld.sync.aligned;"                                \
               : OPERANDS_##REGISTERS("=r")                                    \
               : "r"(address)                                                  \
               : "memory")
  if constexpr (COUNT == 32) {
    LOAD_SUMS(32, 64);
  } else if constexpr (COUNT == 16) {
    LOAD_SUMS(16, 32);
  } else {
    static_assert(COUNT == 8);
    LOAD_SUMS(8, 16);
  }
#undef LOAD_SUMS
#pragma unroll
  for (int i = 0; i < COUNT; ++i) to[i] = *reinterpret_cast<const S*>(&sum.at[i]);
#else
  const unsigned lane = threadIdx.x % 128, column = address & 0xffffu;
  const bool is_valid = address >> 16 == lane / 32 * 32 && has_columns(column, COUNT);
  for (int i = 0; i < COUNT; ++i) {
    const unsigned word =
        is_valid ? tensor_word(static_cast<int>(lane), static_cast<int>(column) + i) : UNKNOWN_SUM;
    __builtin_memcpy(&to[i], &word, sizeof word);
  }
#endif
}

#ifndef TUNER_CPU_BACKEND
#define BEGIN_TENSOR_PRODUCT(KIND)                                                 \
  asm volatile(                                                                    \
      "{\n"                                                                        \
      ".reg .pred accumulate;\n"                                                   \
      "setp.ne.b32 accumulate, %4, 0;\n"                                           \
      "tcgen05.mma.cta_group::1.kind::" KIND                                       \
      " [%0], %1, %2, %3, accumulate;\n"                                           \
      "}" ::"r"(sums),                                                             \
      "l"(rows), "l"(columns), "r"(instruction), "r"(static_cast<int>(accumulate)) \
      : "memory")
#endif

/// The products that one thread begins. They run in this order by themselves.
class TensorProducts {
 public:
  /// Begins sums = rows * columns, or sums += rows * columns, over 32 bytes of K: EXTENT rows, 64
  /// or 128, in lanes of the COLUMNS columns from the address `sums` on. Row i lies in lane i; of
  /// 64 in lane 32 * (i / 16) + i % 16. COLUMNS: a multiple of 16 up to 256; of 64 rows of 8, of
  /// int8 also 8. The operands: of matrix_descriptor(). They must not change until the products are
  /// complete.
  template <class T, bool ROWS_K_MAJOR, bool COLUMNS_K_MAJOR, int EXTENT, int COLUMNS>
  __device__ __forceinline__ void multiply(unsigned sums, unsigned long long row_operand,
                                           unsigned long long column_operand, bool accumulate) {
    constexpr unsigned long long VERSION = 1ull << 46;  // of descriptors
    constexpr unsigned instruction =
        instruction_descriptor<T, ROWS_K_MAJOR, COLUMNS_K_MAJOR>(EXTENT, COLUMNS);
    const unsigned long long rows = row_operand | VERSION, columns = column_operand | VERSION;
    constexpr OperandType TYPE = OperandTypeOf<T>::value;
#ifndef TUNER_CPU_BACKEND
    if constexpr (TYPE == OperandType::tf32) {
      BEGIN_TENSOR_PRODUCT("tf32");
    } else if constexpr (TYPE == OperandType::e4m3) {
      BEGIN_TENSOR_PRODUCT("f8f6f4");
    } else if constexpr (TYPE == OperandType::s8) {
      BEGIN_TENSOR_PRODUCT("i8");
    } else {
      BEGIN_TENSOR_PRODUCT("f16");
    }
#else
    const HostInstruction shape{instruction};
    if (!shape.is_valid(TYPE) || !is_valid_operand(rows, shape.rows_k_major()) ||
        !is_valid_operand(columns, shape.columns_k_major()) || sums >> 16 != 0 ||
        !has_columns(sums, static_cast<unsigned>(shape.columns()))) {
      return refuse();
    }
    // Which of the types of 16 bits is a field of the instruction.
    if constexpr (sizeof(T) == 2) {
      if (shape.element() == 1) {
        begin<__nv_bfloat16>(sums, rows, columns, instruction, accumulate);
      } else {
        begin<__half>(sums, rows, columns, instruction, accumulate);
      }
    } else {
      begin<T>(sums, rows, columns, instruction, accumulate);
    }
#endif
  }

  /// Arrives at a barrier when all products begun before are complete.
  __device__ __forceinline__ void commit(unsigned barrier) {
#ifndef TUNER_CPU_BACKEND
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
        : "memory");
#else
    HostTensorOperation arrival{};
    arrival.is_arrival = true;
    arrival.barrier = barrier;
    add(arrival);
#endif
  }

#ifdef TUNER_CPU_BACKEND
 private:
  static constexpr int MOST = 320;

  template <class T>
  void begin(unsigned sums, unsigned long long rows, unsigned long long columns,
             unsigned instruction, bool accumulate) {
    HostTensorOperation product{
        rows, columns, sums, instruction, accumulate, false, 0, 0, compute_tensor_product<T>};
    product.operands = operand_hash<T>(product);
    if (!accumulate) forget_sums(product);
    add(product);
  }

  void add(const HostTensorOperation& operation) {
    if (count_ == MOST) __trap();
    begun_[(first_ + count_++) % MOST] = operation;
    tuner::context->tensor_memory.operations = this;
    tuner::context->tensor_memory.complete_oldest = complete_oldest;
  }

  /// A product that a GPU does not take: no sum of the block is known.
  static void refuse() {
    const tuner::TensorMemory& memory = tuner::context->tensor_memory;
    for (int lane = 0; lane < TENSOR_LANES; ++lane) {
      for (unsigned i = 0; i < memory.columns; ++i) {
        tensor_word(lane, static_cast<int>(memory.first + i)) = UNKNOWN_SUM;
      }
    }
  }

  /// Completes the oldest products up to the next arrival. Those behind it may have begun to
  /// overwrite sums.
  static bool complete_oldest(void* products) {
    auto& self = *static_cast<TensorProducts*>(products);
    if (self.count_ == 0) return false;
    bool has_arrived = false;
    while (self.count_ > 0 && !has_arrived) {
      const HostTensorOperation operation = self.begun_[self.first_];
      self.first_ = (self.first_ + 1) % MOST;
      --self.count_;
      has_arrived = operation.is_arrival;
      if (!has_arrived) operation.compute(operation);
      if (has_arrived) {
        auto* const at = at_shared_address<HostBarrier>(operation.barrier);
        --at->pending;
        at->complete_if_done();
      }
    }
    for (int i = 0; i < self.count_; ++i) {
      const HostTensorOperation& later = self.begun_[(self.first_ + i) % MOST];
      if (!later.is_arrival && !later.accumulate) forget_sums(later);
    }
    return true;
  }

  HostTensorOperation begun_[MOST];
  int first_ = 0, count_ = 0;
#endif
};

#undef BEGIN_TENSOR_PRODUCT
