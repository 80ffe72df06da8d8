// SPDX-License-Identifier: Apache-2.0
// Vectors of elements.
#pragma once

/// COUNT elements that one instruction loads or stores: 1 to 16 bytes.
template <class T, int COUNT>
struct alignas(COUNT * sizeof(T)) Vector {
  T at[COUNT];
};

/// The widest vector of at most four elements and 16 bytes that divides `count`.
template <class T>
__device__ constexpr int vector_width(int count) {
  constexpr int WIDEST = sizeof(T) <= 4 ? 4 : 16 / sizeof(T);
  return count % WIDEST == 0 ? WIDEST : count % 2 == 0 ? 2 : 1;
}

/// Stores numbers, each rounded once to the type of the elements at `to`.
template <class T, class From, int COUNT>
__device__ __forceinline__ void store_rounded(T* to, const Vector<From, COUNT>& from) {
  Vector<T, COUNT> rounded;
#pragma unroll
  for (int i = 0; i < COUNT; ++i) rounded.at[i] = T(from.at[i]);
  *reinterpret_cast<Vector<T, COUNT>*>(to) = rounded;
}
template <class T, int COUNT>
__device__ __forceinline__ void store_rounded(T* to, const Vector<T, COUNT>& from) {
  *reinterpret_cast<Vector<T, COUNT>*>(to) = from;
}

template <int COUNT>
using Floats = Vector<float, COUNT>;
