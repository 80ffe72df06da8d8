// SPDX-License-Identifier: Apache-2.0
// The sum that all kernels compute. Of an H x W image `in` every WINDOW x WINDOW window, first row
// r and first column c, is squared as a matrix; its square is added to out where the window lies:
//
//     out[y][x] = min(limit, sum over the windows that cover (y, x) of
//                                sum over k < WINDOW of in[y][c + k] * in[r + k][x])
//
// The sum is exact. No term is negative, so it makes no difference where on the way values are cut
// off at the limit: kernels do so as soon as it keeps them in 32 bits.
#pragma once

typedef unsigned short Pixel;

/// First rows, or first columns, of the windows that cover a place of an image `extent` long.
struct Covering {
  int first, last;
};
template <int WINDOW>
__device__ __forceinline__ Covering covering(int place, int extent) {
  return {place < WINDOW ? 0 : place - WINDOW + 1,
          place < extent - WINDOW ? place : extent - WINDOW};
}

/// A part of an image, which is asked for pixels by their places in the image.
struct Pixels {
  const Pixel* data;  ///< of the pixel (y0, x0)
  int pitch, y0, x0;

  __device__ __forceinline__ unsigned at(int y, int x) const {
    return data[(y - y0) * pitch + (x - x0)];
  }
};

/// What is no more than `limit` of a sum.
__device__ __forceinline__ unsigned limited(unsigned long long sum, unsigned limit) {
  return sum < limit ? static_cast<unsigned>(sum) : limit;
}

/// An element of the square of the window whose first pixel is (r, c): at row y and column x of the
/// image.
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

/// Copies a part of the image, `rows` x `pitch` from (y0, x0) on, to shared memory. What lies
/// outside of the image is zero.
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
