// SPDX-License-Identifier: Apache-2.0
// gemm_wgmma for operands whose rows do not start on 16 bytes, as tensor maps need: a first launch
// copies both to scratch memory, to rows that do.

#include "common/integers.cuh"
#include "common/vector.cuh"
#include "gemm_wgmma.cu"

/// A matrix, or several, one after the other.
template <class T>
struct RowsToCopy {
  const T* from;
  T* to;
  unsigned rows;       ///< of all matrices
  int columns, pitch;  ///< of a matrix in `from`
  static constexpr int VECTOR = 16 / sizeof(T);

  __device__ __forceinline__ unsigned vectors_of_row() const { return ceil_div(columns, VECTOR); }
  /// Copies a vector of the result; behind the last column it is zero.
  __device__ __forceinline__ void copy(unsigned vector) const {
    const unsigned row = vector / vectors_of_row();
    const int column = static_cast<int>(vector - row * vectors_of_row()) * VECTOR;
    const T* const elements = from + static_cast<long long>(row) * pitch + column;
    Vector<T, VECTOR> copied;
#pragma unroll
    for (int i = 0; i < VECTOR; ++i) {
      copied.at[i] = column + i < columns ? elements[i] : static_cast<T>(0.0f);
    }
    reinterpret_cast<Vector<T, VECTOR>*>(to)[vector] = copied;
  }
};

/// Grid (any), block (256). Copies A and B with rows of a multiple of 16 bytes.
template <class T>
__global__ void __launch_bounds__(256)
    realign_operands(const T* A, int rows_a, int columns_a, int lda, const T* B, int rows_b,
                     int columns_b, int ldb, T* to_a, T* to_b) {
  const RowsToCopy<T> a{A, to_a, static_cast<unsigned>(rows_a), columns_a, lda};
  const RowsToCopy<T> b{B, to_b, static_cast<unsigned>(rows_b), columns_b, ldb};
  const unsigned of_a = a.rows * a.vectors_of_row();
  const unsigned count = of_a + b.rows * b.vectors_of_row();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    if (i < of_a) {
      a.copy(i);
    } else {
      b.copy(i - of_a);
    }
  }
}
