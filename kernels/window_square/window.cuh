// SPDX-License-Identifier: Apache-2.0
// The sum that all kernels compute. Every WINDOW x WINDOW window of an H x W image `in`, with first
// row r and first column c, is squared as a matrix; the square is added to out at the window's
// position:
//
//     out[y][x] = min(limit, sum over the windows that cover (y, x) of
//                                sum over k < WINDOW of in[y][c + k] * in[r + k][x])
//
// The sum is exact. No term is negative, so that partial sums may also be limited: kernels do so
// where it keeps them within 32 bits.
#pragma once

typedef unsigned short Pixel;

/// First and last of the first rows (or columns) of the windows that cover row (or column) `place`
/// of an image with `extent` rows (or columns).
struct Covering {
  int first, last;
};
template <int WINDOW>
__device__ __forceinline__ Covering covering(int place, int extent) {
  return {place < WINDOW ? 0 : place - WINDOW + 1,
          place < extent - WINDOW ? place : extent - WINDOW};
}

/// A part of an image, indexed by row and column of the whole image.
struct Pixels {
  const Pixel* data;  ///< points to the pixel (y0, x0)
  int pitch, y0, x0;

  __device__ __forceinline__ unsigned at(int y, int x) const {
    return data[(y - y0) * pitch + (x - x0)];
  }
};

/// The smaller of `sum` and `limit`.
__device__ __forceinline__ unsigned limited(unsigned long long sum, unsigned limit) {
  return sum < limit ? static_cast<unsigned>(sum) : limit;
}

/// An element of the square of the window that starts at (r, c): the one at row y and column x of
/// the image.
template <int WINDOW>
__device__ __forceinline__ unsigned long long element_of_square(const Pixels& in, int r, int c,
                                                                int y, int x) {
  unsigned long long sum = 0;
#pragma unroll
  for (int k = 0; k < WINDOW; ++k) {
    sum += static_cast<unsigned long long>(in.at(y, c + k)) * in.at(r + k, x);
  }
  return sum;
}

/// Copies a part of the image, `rows` x `pitch` pixels from (y0, x0) on, to shared memory. Pixels
/// outside the image are zero.
template <int THREADS>
__device__ __forceinline__ Pixels stage(Pixel* to, int rows, int pitch, int y0, int x0,
                                        const Pixel* in, int H, int W) {
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int row = thread / 32; row < rows; row += THREADS / 32) {
    const int y = y0 + row;
    for (int column = thread % 32; column < pitch; column += 32) {
      const int x = x0 + column;
      const bool exists = 0 <= y && y < H && 0 <= x && x < W;
      to[row * pitch + column] = exists ? in[y * W + x] : Pixel(0);
    }
  }
  return {to, pitch, y0, x0};
}
